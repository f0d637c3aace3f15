// What goes into a bundle, and what must not.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { bundleFunctions } from '../../infra/local/bundle.ts';

const outDir = await mkdtemp(path.join(tmpdir(), 'stowage-bundle-test-'));
afterAll(() => rm(outDir, { recursive: true }));
const bundles = await bundleFunctions(outDir);

it.each([
  ['gcp', ['lib/main.js', 'lib/page/compare.html', 'package.json', 'protos/app_engine_key.proto']],
  ['azure', ['host.json', 'lib/main.js', 'lib/page/compare.html', 'package.json']],
])('the bundle for %s is complete by itself', async (cloud, files) => {
  const { dir } = bundles.find((bundle) => bundle.cloud === cloud)!;
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)));
  expect(found.sort()).toEqual(files);
});

it('each bundle holds its own cloud’s client, and not a word of the other’s', async () => {
  const [gcp, azure] = await Promise.all(bundles.map(({ dir }) => readFile(path.join(dir, 'lib/main.js'), 'utf8')));
  expect(gcp).toContain('google.datastore.v1');
  expect(gcp).not.toContain('@azure/data-tables');
  expect(azure).toContain('TableClient');
  expect(azure).not.toContain('google.datastore.v1');
});
