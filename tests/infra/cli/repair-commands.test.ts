// Repair over the wire: stored parts damaged through the drivers, on both emulators, and the
// commands that look at a table and mend it.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Driver, Entity } from '../../../shared/store/contract/driver.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { azureAt, datastoreAt } from '../../drivers/emulated.ts';
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
function valueOf(key: string, word: string): string {
  return ['a', 'b', 'c'].map((part) => createHash('sha512').update(`${key} ${word} ${part}`).digest('base64')).join('');
}

/** Fills two dozen leaves, some with layers above their base, some merged. */
async function filled(store: Store, name: string): Promise<Map<string, string>> {
  const table = await store.table<string>(name, { order: 'key', containerBytesMax: 16_384 });
  const items = KEYS.map((key) => ({ key, value: valueOf(key, 'first') }));
  await table.putMany(items);
  const values = new Map(items.map(({ key, value }) => [key, value]));
  const gone = KEYS.filter((_, index) => index > 200 && index < 300 && index % 10 !== 0);
  await table.deleteMany(gone);
  for (const key of gone) values.delete(key);
  expect((await store.vacuum(name, { quietMs: 0 })).merged).toBeGreaterThan(0);
  for (const key of KEYS.filter((_, index) => index % 25 === 0)) {
    values.set(key, valueOf(key, 'second'));
    await table.put(key, values.get(key)!);
  }
  return values;
}

/** Reads every key; those that damage may have cost are put again. Gives how many had gone. */
async function checked(store: Store, name: string, values: Map<string, string>, mayBeLost: (key: string) => boolean) {
  const table = await store.table<string>(name);
  const outcomes = await table.getMany(KEYS);
  const lost = outcomes.filter((outcome) => {
    const value = outcome.status === 'found' ? outcome.value : undefined;
    if (value === values.get(outcome.key)) return false;
    expect(mayBeLost(outcome.key), `${outcome.key} ${outcome.status}`).toBe(true);
    expect([undefined, valueOf(outcome.key, 'first')]).toContain(value);
    return true;
  });
  await table.putMany(lost.flatMap(({ key }) => (values.has(key) ? [{ key, value: values.get(key)! }] : [])));
  await table.deleteMany(lost.flatMap(({ key }) => (values.has(key) ? [] : [key])));
  return lost.length;
}

/** Ten ways, each on a container of its own: pages, headers, a commit id, a leaf, the root. */
async function damageInTenWays(driver: Driver, name: string): Promise<(key: string) => boolean> {
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
  return (key) => {
    const place = places.get(key);
    return done.some(({ id, part, edit }) => place?.id === id && (edit === 'removed' || place.part === part));
  };
}

test('commands find ten kinds of damage in a table, repair it and copy it to the other cloud', async () => {
  const driver = await datastore();
  const store = storeOn(driver);
  const values = await filled(store, 'ten');
  const mayBeLost = await damageInTenWays(driver, 'ten');
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
  const lost = await checked(
    storeOn(azureAt('own', env['STOWAGE_TABLES_ENDPOINT']!, 'stowage')),
    'ten',
    values,
    mayBeLost,
  );
  expect(lost).toBeGreaterThan(0);
  expect(lost).toBeLessThan(KEYS.filter((key) => mayBeLost(key)).length + 1);
});
