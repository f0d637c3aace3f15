// Builds what the library's package holds beside its manifest and README: JavaScript, as Node.js
// runs no TypeScript below node_modules. `npm pack` of the workspace `shared` calls it.
import { chmod, copyFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './bundle.ts';
import { pageText } from './bundle-page.ts';
import { runTsc } from './tsc.ts';

const LIBRARY = path.join(ROOT, 'shared');
const DIST = path.join(LIBRARY, 'dist');
const CLI = path.join(DIST, 'cli.js');

/** Beside the command line, which builds it where it runs from source. */
const PAGE_BESIDE: Plugin = {
  name: 'page-beside',
  setup: (build) =>
    build.onLoad({ filter: /\/infra\/package\/bundle-page\.ts$/ }, () => ({
      contents: `import { readFile } from 'node:fs/promises';
export const pageText = () => readFile(new URL('page.html', import.meta.url), 'utf8');`,
    })),
};

await rm(DIST, { recursive: true, force: true });
await runTsc('-p', path.join(ROOT, 'infra/package/tsconfig.json'));
await build({
  entryPoints: [path.join(ROOT, 'infra/cli/stowage.ts')],
  outfile: CLI,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  minify: true,
  plugins: [PAGE_BESIDE],
  // Loaded by the commands that move plain entities alone, where they are installed.
  external: ['@google-cloud/datastore', '@azure/data-tables', 'google-auth-library', '@grpc/grpc-js'],
  // Bundled CommonJS packages expect it. The entry's own first line stays the first.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(CLI, 0o755);
await writeFile(path.join(DIST, 'page.html'), await pageText());
await copyFile(path.join(ROOT, 'LICENSE'), path.join(LIBRARY, 'LICENSE'));
