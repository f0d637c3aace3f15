// Makes a zip per function and cloud, with its source map apart. The local hosts run these zips.
// Their bytes depend on contents alone, so that deploying the same code changes nothing.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { unzipSync, type Zippable, zipSync } from 'fflate';
import { bundleFunction, type Cloud, CLOUDS, type FunctionSource } from './bundle.ts';

export interface PackagedFunction {
  readonly cloud: Cloud;
  readonly name: string;
  readonly zipFile: string;
  readonly sizeBytes: number;
  /** The zip's digest, in hexadecimal. */
  readonly sha256: string;
  readonly sourceMapFile: string;
}

export interface UnpackedFunction extends PackagedFunction {
  readonly dir: string;
}

/** Limits as in serverless.yml, for hosts that do not go through the framework. */
export const FUNCTIONS: readonly FunctionSource[] = [
  { name: 'records', handler: 'functions/{cloud}/records.ts', timeoutSeconds: 60 },
  { name: 'compare', handler: 'functions/{cloud}/compare.ts', timeoutSeconds: 230 },
  { name: 'vacuum', handler: 'functions/{cloud}/vacuum.ts', timeoutSeconds: 1_800 },
];

/** A larger package starts slowly, or has a dependency that slipped in. */
const ZIP_BYTES_MAX = 5 * 1024 * 1024;

/** Writes `<cloud>-<name>.zip` and `maps/<cloud>-<name>.main.js.map.gz`. Throws above 5 MiB. */
export async function packageFunctions(
  outDir: string,
  sources: readonly FunctionSource[] = FUNCTIONS,
  clouds: readonly Cloud[] = CLOUDS,
): Promise<PackagedFunction[]> {
  await mkdir(path.join(outDir, 'maps'), { recursive: true });
  const wanted = sources.flatMap((source) => clouds.map((cloud) => ({ cloud, source })));
  return await Promise.all(wanted.map(({ cloud, source }) => packageOne(outDir, cloud, source)));
}

/** Packages the functions, and unpacks each zip into a folder of its name. */
export async function packageAndUnpack(
  outDir: string,
  sources: readonly FunctionSource[] = FUNCTIONS,
  clouds: readonly Cloud[] = CLOUDS,
): Promise<UnpackedFunction[]> {
  const packaged = await packageFunctions(outDir, sources, clouds);
  return await Promise.all(
    packaged.map(async (one) => {
      const dir = path.join(outDir, `${one.cloud}-${one.name}`);
      await rm(dir, { recursive: true, force: true });
      await unzipTo(await readFile(one.zipFile), dir);
      return { ...one, dir };
    }),
  );
}

/** The folder of one function, among those unpacked. Throws if it is not there. */
export function folderOf(unpacked: readonly UnpackedFunction[], cloud: Cloud, name: string): string {
  const found = unpacked.find((one) => one.cloud === cloud && one.name === name);
  if (found === undefined) throw new Error(`no package of ${name} for ${cloud}`);
  return found.dir;
}

export function sizesText(packaged: readonly PackagedFunction[]): string {
  return packaged
    .map(({ cloud, name, sizeBytes, sha256 }) => {
      const size = `${(sizeBytes / 1024).toFixed(0)} KiB`;
      return `${cloud.padEnd(6)} ${name.padEnd(8)} ${size.padStart(9)}  sha256 ${sha256.slice(0, 12)}`;
    })
    .join('\n');
}

async function packageOne(outDir: string, cloud: Cloud, source: FunctionSource): Promise<PackagedFunction> {
  const { files, sourceMap } = await bundleFunction(cloud, source);
  const archive = zip(files);
  const { name } = source;
  if (archive.length > ZIP_BYTES_MAX)
    throw new Error(
      `the package of ${name} for ${cloud} has ${archive.length} bytes; at most ${ZIP_BYTES_MAX} are allowed`,
    );
  const zipFile = path.join(outDir, `${cloud}-${name}.zip`);
  const sourceMapFile = path.join(outDir, 'maps', `${cloud}-${name}.main.js.map.gz`);
  await writeFile(zipFile, archive);
  await writeFile(sourceMapFile, gzipSync(sourceMap));
  const sha256 = createHash('sha256').update(archive).digest('hex');
  return { cloud, name, zipFile, sizeBytes: archive.length, sha256, sourceMapFile };
}

/** The mode of a plain file that everybody may read; it counts in zips made by Unix alone. */
const UNIX = 3;
const MODE = (0o100644 << 16) >>> 0;

function zip(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  // The first moment of a zip, in local parts: zips keep local time, and fflate reads it so.
  const mtime = new Date(1980, 0, 1);
  const entries: Zippable = {};
  for (const name of [...files.keys()].sort())
    entries[name] = [files.get(name)!, { level: 6, mtime, os: UNIX, attrs: MODE }];
  return zipSync(entries);
}

/** Writes the archive's files into `dir`. Throws if a name leads elsewhere. */
async function unzipTo(archive: Uint8Array, dir: string): Promise<void> {
  for (const [name, contents] of Object.entries(unzipSync(archive))) {
    const file = path.resolve(dir, name);
    if (!file.startsWith(path.resolve(dir) + path.sep)) throw new Error(`the archive holds a file outside it: ${name}`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
}
