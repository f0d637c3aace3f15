// The commands that look at a table whose stored parts were damaged through the driver, mend it and
// copy it.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Driver, Entity } from '../../../shared/store/contract/driver.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { datastoreAt } from '../../drivers/emulated.ts';
import { damage, type Damage, type Edit, placesOf, storedEntities } from '../../store/damage.ts';
import { testFolder } from '../../support/folder.ts';
import { partName } from '../../support/ids.ts';
import { onBothClouds, stowage } from './run-command.ts';

const KEYS = Array.from({ length: 500 }, (_, number) => `key ${String(number).padStart(4, '0')}`);
const [HEADER, COMMIT] = [partName('h'), partName('c')];

async function datastore(): Promise<Driver> {
  return datastoreAt('own', inject('embeddedEndpoint'), { projectId: 'stowage-repair-test' });
}

function storeOn(driver: Driver): Store {
  const store = openStore({ driver });
  onTestFinished(() => store.close());
  return store;
}

/** Text that hardly shrinks. */
const valueOf = (key: string) =>
  ['a', 'b', 'c'].map((part) => createHash('sha512').update(`${key} ${part}`).digest('base64')).join('');

/** Fills two dozen leaves. */
async function filled(store: Store, name: string): Promise<void> {
  const table = await store.table<string>(name, { order: 'key', containerBytesMax: 16_384 });
  await table.putMany(KEYS.map((key) => ({ key, value: valueOf(key) })));
}

/** Ten ways, each on a container of its own: pages, headers, a commit id, a leaf, the root. */
async function damageInTenWays(driver: Driver, name: string): Promise<void> {
  const before = await storedEntities(driver, name);
  const places = placesOf(before, name);
  const leaves = [...new Set([...places.values()].map(({ id }) => id))];
  const page = (id: Entity['id']) => [...places.values()].find((place) => place.id === id)!.part;
  const edits: readonly (readonly [Edit, 'page' | typeof HEADER])[] = [
    ...(['flipped', 'cut', 'zeroed', 'dropped', 'swapped'] as const).map((edit) => [edit, 'page'] as const),
    ['flipped', HEADER],
    ['swapped', HEADER],
    ['dropped', COMMIT],
    ['removed', HEADER],
  ];
  expect(leaves.length).toBeGreaterThan(edits.length);
  const done = edits.map(([edit, part], index): Damage => {
    const id = leaves[index]!;
    return { id, part: part === 'page' ? page(id) : part, edit };
  });
  done.push({ id: before[0]!.id, part: HEADER, edit: 'flipped' });
  for (const one of done) await damage(driver, before, one, leaves.at(-1));
}

test('commands find ten kinds of damage in a table, repair it and copy it to the other cloud', async () => {
  const driver = await datastore();
  const store = storeOn(driver);
  await filled(store, 'ten');
  await damageInTenWays(driver, 'ten');
  const env = await onBothClouds();
  const [from, to] = ['gcp://stowage-repair-test', 'azure://devstoreaccount1/stowage'];
  const cwd = await testFolder();
  const run = (...args: string[]) => stowage([...args, '--from', from], { cwd, env });
  expect(await run('verify', 'ten')).toMatchObject({ code: 1 });
  const shown = await run('inspect', 'ten');
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('the header cannot be read') as string });
  const before = await storedEntities(driver, 'ten');
  const dry = await run('repair', 'ten', '--dry-run');
  expect(dry.stdout).toContain('1 containers would be mended.');
  expect(await storedEntities(driver, 'ten')).toEqual(before);

  const repaired = await run('repair', 'ten', '--save', 'taken.ndjson');
  expect(repaired).toMatchObject({ code: 0, stdout: expect.stringMatching(/Nothing is wrong\.\n$/) as string });
  const taken = (await readFile(path.join(cwd, 'taken.ndjson'), 'utf8')).trim().split('\n');
  const saved = taken.map((line) => JSON.parse(line) as { container: string; parts: Record<string, string> });
  expect(new Set(saved.map(({ container }) => container)).size).toBeGreaterThanOrEqual(10);
  const root = before.find(({ id }) => id === 't!ten!')!;
  const savedRoot = saved.find(({ container }) => container === root.id)!;
  expect(savedRoot.parts['h']).toBe(Buffer.from(root.parts.get(HEADER)!).toString('base64'));

  expect(await run('verify', 'ten')).toMatchObject({ code: 0 });
  const stats = await run('stats', 'ten');
  expect(stats.stdout).toMatch(/level 0 \(leaves\): \d+ containers[^]*leaves are [\d.]+ % full/);
  const leaf = await run('inspect', 'ten', '--key', KEYS[3]!);
  expect(leaf.stdout).toMatch(
    /live, level 0, order key, from ""[^]*page 0, base: \d+ bytes \(zstd\), \d+ records, 0 expired/,
  );
  expect(await run('copy', 'ten', '--to', to)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Both hold the same') as string,
  });
});
