// Bundles one function of one cloud. No input may belong to another cloud's SDK.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { commitOf, versionsOf } from './build-facts.ts';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import { lockFileOf } from './lock-file.ts';
import { pageText } from './bundle-page.ts';

export const CLOUDS = ['gcp', 'azure'] as const;
export type Cloud = (typeof CLOUDS)[number];

/** A function to package: one entry for both clouds, `{cloud}` standing for either. */
export interface FunctionSource {
  /** On Google Cloud also the name of the export that the platform calls. */
  readonly name: string;
  /** The entry's path from the project's root, such as `functions/{cloud}/records.ts`. */
  readonly handler: string;
  /** The platform ends a request after this time. */
  readonly timeoutSeconds: number;
}

export interface Bundle {
  /** Contents by path, with slashes. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Source map of the code file; not among the files, as no platform needs it. */
  readonly sourceMap: Uint8Array;
}

/** The project's folder: bundles do not depend on where the command was given. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const MAIN = 'lib/main.js';
const SDK = 'lib/sdk-client.js';
const SPANS = 'lib/trace-exporter.js';
const FRAMEWORK = '@google-cloud/functions-framework';
const PAGE = 'compare/page.html';
const BUILD = 'compare/build.json';
const COMPARE = /^functions\/(\{cloud\}|[a-z]+)\/compare\.ts$/;

interface Platform {
  readonly provider: Provider;
  /** Packages that belong to the other cloud. */
  readonly foreign: RegExp;
  /** Supplied by the platform at run time. */
  readonly external: string[];
  /** Packages whose versions affect a comparison. */
  readonly measured: readonly string[];
}

const PLATFORMS: Readonly<Record<Cloud, Platform>> = {
  gcp: {
    provider: 'datastore',
    foreign: /node_modules\/@azure\//,
    external: [],
    measured: ['@google-cloud/datastore', 'google-gax', '@grpc/grpc-js', 'msgpackr'],
  },
  azure: {
    provider: 'azure-tables',
    foreign: /node_modules\/(@google-cloud|google-gax|google-auth-library|@grpc)\//,
    external: ['@azure/functions-core'],
    measured: ['@azure/data-tables', '@azure/core-rest-pipeline', 'msgpackr'],
  },
};

/** Throws if the bundle would hold the other cloud's SDK, or if the entry does not build. */
export async function bundleFunction(cloud: Cloud, source: FunctionSource): Promise<Bundle> {
  const { provider, foreign, external, measured } = PLATFORMS[cloud];
  const bundled = (entry: string, outfile: string) => ({
    entryPoints: [path.join(ROOT, entry)],
    outfile: path.join(ROOT, outfile),
    bundle: true as const,
    write: false as const,
    platform: 'node' as const,
    format: 'esm' as const,
    target: 'node22',
    // A cold start reads all of it. Names stay, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [SELDOM_APART, WITHOUT_UNUSED_PROTOS, HTTP_REQUIRED, WITHOUT_NATIVE_PARTS],
    // The bundle does not name its map, so the code is the same with and without one.
    sourcemap: 'external' as const,
    external,
    banner: { js: COMMONJS_GLOBALS },
    metafile: true as const,
    absWorkingDir: ROOT,
    logLevel: 'warning' as const,
  });
  const { metafile, outputFiles } = await build(bundled(source.handler.replace('{cloud}', cloud), MAIN));
  const sdk = await build(bundled(`functions/${cloud}/sdk-client.ts`, SDK));
  const spans = await build(bundled('functions/instance/trace-exporter.ts', SPANS));
  for (const one of [metafile, sdk.metafile]) assertOwnSdkOnly(one, `${cloud} ${source.name}`, foreign);
  const files = new Map<string, Uint8Array>([
    [MAIN, codeIn(outputFiles)],
    [SDK, codeIn(sdk.outputFiles)],
    [SPANS, codeIn(spans.outputFiles)],
    ...(await packageFilesOf(cloud, source)),
  ]);
  if (cloud === 'azure') files.set('host.json', json(hostJsonOf(source)));
  for (const [name, from] of readAtRunTime(sdk.metafile)) files.set(name, await readFile(from));
  if (COMPARE.test(source.handler)) {
    files.set(PAGE, Buffer.from(await pageText(provider)));
    files.set(BUILD, json({ commit: await commitOf(ROOT), versions: await versionsOf(ROOT, measured) }));
  }
  return { files, sourceMap: outputFiles.find(({ path: file }) => file.endsWith('.map'))!.contents };
}

function codeIn(files: readonly { readonly path: string; readonly contents: Uint8Array }[]): Uint8Array {
  return files.find(({ path: file }) => file.endsWith('.js'))!.contents;
}

/** A cold start reads the whole bundle, so code that few requests need has a file of its own. */
const SELDOM_APART: Plugin = {
  name: 'seldom-apart',
  setup: (build) =>
    build.onResolve({ filter: /^\.\/(sdk-client|trace-exporter)\.ts$/ }, ({ path: name, kind }) =>
      kind === 'dynamic-import' ? { path: name.replace(/ts$/, 'js'), external: true } : undefined,
    ),
};

/** Drops static code of APIs that Google's SDK re-exports and the baseline never calls. */
const WITHOUT_UNUSED_PROTOS: Plugin = {
  name: 'without-unused-protos',
  setup: (build) =>
    build.onLoad({ filter: /\/google-gax\/build\/protos\/(iam_service|locations|operations)\.js$/ }, () => ({
      contents: 'module.exports = {};',
    })),
};

/** An `import` of `node:http` also loads `fetch` and web sockets, a quarter of each load. */
const HTTP_REQUIRED: Plugin = {
  name: 'http-required',
  setup: (build) => {
    build.onResolve({ filter: /^(node:)?https?$/ }, ({ path: name, kind }) =>
      kind === 'import-statement' ? { path: name, namespace: 'required' } : undefined,
    );
    build.onLoad({ filter: /^/, namespace: 'required' }, ({ path: name }) => ({
      contents: `module.exports = require('${name}');`,
    }));
  },
};

/** No bundle holds msgpackr's native part, and looking for it takes a tenth of each load. */
const WITHOUT_NATIVE_PARTS: Plugin = {
  name: 'without-native-parts',
  setup: (build) =>
    build.onLoad({ filter: /\/msgpackr-extract\/index\.js$/ }, () => ({ contents: 'module.exports = undefined;' })),
};

/** Bundled CommonJS packages expect these; an ES module has none of them. */
const COMMONJS_GLOBALS = `import { createRequire as __createRequire } from 'node:module';
import { fileURLToPath as __fileURLToPath } from 'node:url';
const require = __createRequire(import.meta.url);
const __filename = __fileURLToPath(import.meta.url);
const __dirname = __fileURLToPath(new URL('.', import.meta.url));`;

function assertOwnSdkOnly(metafile: Metafile, name: string, foreign: RegExp): void {
  const found = Object.keys(metafile.inputs).filter((input) => foreign.test(input));
  if (found.length > 0)
    throw new Error(`the bundle for ${name} holds the other cloud's SDK: ${found[0]} and ${found.length - 1} more`);
}

async function packageFilesOf(cloud: Cloud, { name }: FunctionSource): Promise<[string, Uint8Array][]> {
  const common = { name: `stowage-${name}-${cloud}`, private: true, type: 'module', main: MAIN };
  if (cloud === 'azure') return [['package.json', json(common)]];
  // Google's build installs the functions-framework in the versions that were tested.
  const { devDependencies } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const dependencies = { [FRAMEWORK]: devDependencies[FRAMEWORK]! };
  return [
    ['package.json', json({ ...common, dependencies })],
    ['package-lock.json', json(await lockFileOf(ROOT, { name: common.name, dependencies }))],
  ];
}

/** Without the empty prefix every route would lie under /api. */
function hostJsonOf({ timeoutSeconds }: FunctionSource): object {
  const functionTimeout = new Date(timeoutSeconds * 1_000).toISOString().slice(11, 19);
  // Without exclusions the host samples under load: percentiles of samples, lost log lines.
  const samplingSettings = { isEnabled: true, excludedTypes: 'Request;Trace;Exception' };
  return {
    version: '2.0',
    functionTimeout,
    extensions: { http: { routePrefix: '' } },
    logging: { applicationInsights: { samplingSettings } },
  };
}

/** Files that bundled code opens as it runs, by their path in the bundle. */
function readAtRunTime(metafile: Metafile): [string, string][] {
  const inputs = Object.keys(metafile.inputs);
  if (!inputs.some((input) => input.endsWith('@google-cloud/datastore/build/src/index.js'))) return [];
  // Datastore's high-level client reads it, from beside its own folder, as it is loaded.
  const sdk = path.dirname(createRequire(import.meta.url).resolve('@google-cloud/datastore/package.json'));
  return [['protos/app_engine_key.proto', path.join(sdk, 'build/protos/app_engine_key.proto')]];
}

function json(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}
