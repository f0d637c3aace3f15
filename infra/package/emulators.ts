// Builds what the package of the emulators holds beside its manifest and README: one CommonJS file,
// which Jest loads without a flag. `npm pack` of the workspace `infra/emulators` calls it.
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './bundle.ts';
import { runTsc } from './tsc.ts';

const EMULATORS = path.join(ROOT, 'infra/emulators');
const DIST = path.join(EMULATORS, 'dist');

await rm(DIST, { recursive: true, force: true });
await build({
  entryPoints: [path.join(EMULATORS, 'index.ts')],
  outfile: path.join(DIST, 'index.cjs'),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  external: ['@grpc/grpc-js', 'protobufjs'],
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  logLevel: 'warning',
});
const declared = await mkdtemp(path.join(tmpdir(), 'stowage-emulators-'));
try {
  await runTsc('-p', path.join(ROOT, 'infra/package/emulators.tsconfig.json'), '--outDir', declared);
  // It declares all its types itself: the other files' declarations stay behind.
  await copyFile(path.join(declared, 'infra/emulators/index.d.ts'), path.join(DIST, 'index.d.cts'));
} finally {
  await rm(declared, { recursive: true });
}
await copyFile(path.join(ROOT, 'LICENSE'), path.join(EMULATORS, 'LICENSE'));
