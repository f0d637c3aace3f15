// Builds `npm pack`'s files: JavaScript, as Node.js runs no TypeScript below node_modules.
import { execFile } from 'node:child_process';
import { chmod, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { ROOT } from './bundle.ts';

const DIST = path.join(ROOT, 'dist');
const CLI = path.join(DIST, 'cli.js');
const TSC_TIMEOUT_MS = 120_000;

const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

await rm(DIST, { recursive: true, force: true });
await promisify(execFile)(process.execPath, [tsc, '-p', path.join(ROOT, 'infra/package/tsconfig.json')], {
  timeout: TSC_TIMEOUT_MS,
});
await build({
  entryPoints: [path.join(ROOT, 'infra/cli/main.ts')],
  outfile: CLI,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // Mostly charts, which nobody debugs here.
  minify: true,
  // Bundled CommonJS packages expect it. The entry's own first line stays the first.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(CLI, 0o755);
