// Builds what a package of npm holds beside its manifest and README, as `npm pack` of its workspace
// does first: `npm-package.ts store|emulators`.
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { ROOT } from './bundle.ts';
import { pageText } from './bundle-page.ts';

const TSC_TIMEOUT_MS = 120_000;
const NODE: BuildOptions = { bundle: true, platform: 'node', target: 'node22', logLevel: 'warning' };

/** In the store's package the page lies beside the command line, which elsewhere builds it. */
const PAGE_BESIDE: Plugin = {
  name: 'page-beside',
  setup: (build) =>
    build.onLoad({ filter: /\/infra\/package\/bundle-page\.ts$/ }, () => ({
      contents: `import { readFile } from 'node:fs/promises';
export const pageText = () => readFile(new URL('page.html', import.meta.url), 'utf8');`,
    })),
};

/** JavaScript with declarations, as Node.js runs no TypeScript there, and the command line. */
async function buildStore(dist: string): Promise<void> {
  const cli = path.join(dist, 'cli.js');
  await runTsc('-p', path.join(ROOT, 'infra/package/tsconfig.json'));
  await build({
    ...NODE,
    entryPoints: [path.join(ROOT, 'infra/cli/stowage.ts')],
    outfile: cli,
    format: 'esm',
    minify: true,
    plugins: [PAGE_BESIDE],
    // Loaded by the commands that move plain entities alone, where they are installed.
    external: ['@google-cloud/datastore', '@azure/data-tables', 'google-auth-library', '@grpc/grpc-js'],
    // Bundled CommonJS packages expect it. The entry's own first line stays the first.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
  });
  await chmod(cli, 0o755);
  await writeFile(path.join(dist, 'page.html'), await pageText());
}

/** One CommonJS file, which Jest loads without a flag, and one of types. */
async function buildEmulators(dist: string): Promise<void> {
  await build({
    ...NODE,
    entryPoints: [path.join(ROOT, 'infra/emulators/index.ts')],
    outfile: path.join(dist, 'index.cjs'),
    format: 'cjs',
    external: ['@grpc/grpc-js', 'protobufjs'],
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
  const declared = await mkdtemp(path.join(tmpdir(), 'stowage-emulators-'));
  try {
    await runTsc('-p', path.join(ROOT, 'infra/package/emulators.tsconfig.json'), '--outDir', declared);
    // It declares all its types itself: the other files' declarations stay behind.
    await copyFile(path.join(declared, 'infra/emulators/index.d.ts'), path.join(dist, 'index.d.cts'));
  } finally {
    await rm(declared, { recursive: true });
  }
}

/** Rejects with what it prints. */
export async function runTsc(...args: readonly string[]): Promise<void> {
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, ...args], { timeout: TSC_TIMEOUT_MS });
}

const PACKAGES = { store: ['shared', buildStore], emulators: ['infra/emulators', buildEmulators] } as const;

if (import.meta.main) {
  const [folder, buildPackage] = PACKAGES[process.argv[2] as keyof typeof PACKAGES];
  const home = path.join(ROOT, folder);
  await rm(path.join(home, 'dist'), { recursive: true, force: true });
  await buildPackage(path.join(home, 'dist'));
  await copyFile(path.join(ROOT, 'LICENSE'), path.join(home, 'LICENSE'));
}
