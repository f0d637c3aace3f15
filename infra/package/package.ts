// Makes a zip per function and cloud, with its source map apart. The local hosts run these zips.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleFunction, type Cloud, CLOUDS, type FunctionSource } from './bundle.ts';
import { unzipTo, zip } from './zip.ts';

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
export const ZIP_BYTES_MAX = 5 * 1024 * 1024;

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
