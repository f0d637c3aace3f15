// Bundles each cloud's entry into a folder that can be deployed as it is: code, package.json, the page, and what the platform reads
// beside them. Each bundle holds its own cloud's SDK only, which is checked here, in what esbuild says went in.
import { cp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Metafile } from 'esbuild';

export interface Bundle {
  readonly cloud: 'gcp' | 'azure';
  /** The folder to deploy, or to hand to a local host. */
  readonly dir: string;
  /** Bytes of the one code file. */
  readonly sizeBytes: number;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Cloud {
  readonly cloud: Bundle['cloud'];
  /** Packages that belong to the other cloud. */
  readonly foreign: RegExp;
  /** Supplied by the platform at run time. */
  readonly external: string[];
  readonly addFiles: (dir: string) => Promise<void>;
}

const CLOUDS: readonly Cloud[] = [
  { cloud: 'gcp', foreign: /node_modules\/@azure\//, external: [], addFiles: addGcpFiles },
  {
    cloud: 'azure',
    foreign: /node_modules\/(@google-cloud|google-gax|google-auth-library|@grpc)\//,
    external: ['@azure/functions-core'],
    addFiles: addAzureFiles,
  },
];

/** Bundles all clouds below `outDir` (`gcp/`, `azure/`), emptying those folders first. Throws if a bundle holds the other cloud's SDK. */
export async function bundleFunctions(outDir: string): Promise<Bundle[]> {
  return await Promise.all(CLOUDS.map((cloud) => bundleOne(cloud, path.join(outDir, cloud.cloud))));
}

async function bundleOne({ cloud, foreign, external, addFiles }: Cloud, dir: string): Promise<Bundle> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(path.join(dir, 'lib', 'page'), { recursive: true });
  const main = path.join(dir, MAIN);
  const { metafile } = await build({
    entryPoints: [path.join(ROOT, 'functions', `${cloud}.ts`)],
    outfile: main,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    // Class and function names stay what they are in errors; the code itself is not made unreadable.
    keepNames: true,
    external,
    banner: { js: COMMONJS_GLOBALS },
    metafile: true,
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
  assertOwnSdkOnly(metafile, cloud, foreign);
  await cp(path.join(ROOT, 'functions', 'page'), path.join(dir, 'lib', 'page'), { recursive: true });
  await writeJson(path.join(dir, 'package.json'), {
    name: `stowage-${cloud}`,
    private: true,
    type: 'module',
    main: MAIN,
  });
  await addFiles(dir);
  return { cloud, dir, sizeBytes: (await stat(main)).size };
}

const MAIN = 'lib/main.js';

/** Bundled CommonJS packages expect these; an ES module has none of them. */
const COMMONJS_GLOBALS = `import { createRequire as __createRequire } from 'node:module';
import { fileURLToPath as __fileURLToPath } from 'node:url';
const require = __createRequire(import.meta.url);
const __filename = __fileURLToPath(import.meta.url);
const __dirname = __fileURLToPath(new URL('.', import.meta.url));`;

function assertOwnSdkOnly(metafile: Metafile, cloud: string, foreign: RegExp): void {
  const found = Object.keys(metafile.inputs).filter((input) => foreign.test(input));
  if (found.length > 0)
    throw new Error(`the bundle for ${cloud} holds the other cloud's SDK: ${found[0]} and ${found.length - 1} more`);
}

/** Datastore's high-level client reads this file, from beside its own folder, as it is loaded. */
async function addGcpFiles(dir: string): Promise<void> {
  const sdk = path.dirname(createRequire(import.meta.url).resolve('@google-cloud/datastore/package.json'));
  const proto = path.join('protos', 'app_engine_key.proto');
  await cp(path.join(sdk, 'build', proto), path.join(dir, proto));
}

/** Without the empty prefix every route would lie under /api. */
async function addAzureFiles(dir: string): Promise<void> {
  await writeJson(path.join(dir, 'host.json'), {
    version: '2.0',
    extensions: { http: { routePrefix: '' } },
  });
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
