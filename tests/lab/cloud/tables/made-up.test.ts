// The store works on a table that nobody loaded, and the simulation's decoder accepts it.
import { expect, test } from 'vitest';
import { randomInt, seededRandom } from '../../../../shared/lab/kit/random.ts';
import { type RecordFields, recordSource } from '../../../../shared/lab/work/records.ts';
import { memoryDriver, type MemoryState } from '../../../../shared/drivers/memory.ts';
import { MadeUpEntities } from '../../../../shared/lab/cloud/tables/entities.ts';
import { OverlayEntities } from '../../../../shared/lab/cloud/tables/overlay.ts';
import { MADE_UP_INCARNATION, madeUpKey } from '../../../../shared/lab/cloud/tables/made-up.ts';
import { measured } from '../../../../shared/drivers/measured.ts';
import type { EntityId } from '../../../../shared/store/contract/driver.ts';
import type { Id64 } from '../../../../shared/store/format/bytes.ts';
import { nodeId } from '../../../../shared/store/format/ids.ts';
import { type DriverLimits, openStore, type Store } from '../../../../shared/store/index.ts';
import { Provider } from '../../../simulation/provider.ts';
import { expectBetween } from '../../expect-within.ts';
import { orphansOf, storedRecords, structureFaults } from '../../../simulation/structure.ts';

const DEFAULTS = memoryDriver().limits;
const TABLE = 'large';

interface MadeUp {
  readonly state: MemoryState;
  readonly entities: MadeUpEntities;
  readonly limits: DriverLimits;
}

function madeUp(records: number, entityBytesMax: number, recentBytesMax = 2 ** 26): MadeUp {
  const limits = { ...DEFAULTS, entityBytesMax };
  const entities = new MadeUpEntities({ table: TABLE, records, recordBytes: 500, limits }, recentBytesMax);
  return { entities, limits, state: { entities: new OverlayEntities(entities), versionCount: 0 } };
}

const storeOn = ({ state, limits }: MadeUp): Store => openStore({ driver: memoryDriver({ state, limits }) });

const fieldsOf = (index: number): RecordFields => recordSource(1, 500)(index, 0).fields;

test.each([
  [1, 65_536],
  [16, 16_384],
  // This one has three levels.
  [11_500, 16_384],
  [4_000, 65_536],
  [4_000, 1_000_000],
])('%i records in containers of %i bytes are what the format says', (records, entityBytesMax) => {
  const { state } = madeUp(records, entityBytesMax);
  const provider = new Provider(state);
  expect(structureFaults(provider, TABLE, true)).toEqual([]);
  expect(orphansOf(provider, TABLE)).toEqual([]);
  const stored = storedRecords(provider, TABLE).map(({ record }) => record.key.toString());
  expect(stored).toEqual(Array.from({ length: records }, (_, index) => madeUpKey(index)));
});

test('a container holds about half of what it may, as a bulk load leaves it', () => {
  const made = madeUp(200_000, 65_536);
  const { state, entities } = made;
  const { rows } = new Provider(state).entity(leafOf(made, 100))!.node;
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  expectBetween(bytes / 65_536, 0.4, 0.55);
  expect(entities.tree.counts.at(-1)).toBe(1);
});

test('ids lie evenly among all that a store may draw, and lead back to their nodes', () => {
  const { tree } = madeUp(100_000_000, 65_536).entities;
  const perFirstDigit = new Map<string, number>();
  for (let index = 0; index < 1_600; index += 1) {
    const id = tree.containerOf({ level: 0, index });
    expect(tree.placeOf(id)).toEqual({ level: 0, index });
    perFirstDigit.set(id[0]!, (perFirstDigit.get(id[0]!) ?? 0) + 1);
  }
  expect(perFirstDigit.size).toBe(16);
  for (const count of perFirstDigit.values()) expect(Math.abs(count - 100)).toBeLessThan(10);
  expect(tree.placeOf('0123456789abcdef' as Id64)).toBeUndefined();
});

test('the same bytes come whenever they are asked for', () => {
  const [one, other] = [madeUp(2_000, 65_536, 1), madeUp(2_000, 65_536)];
  const id = leafOf(one, 7);
  const first = one.entities.get(id);
  one.entities.get(leafOf(one, 8));
  expect(one.entities.get(id)).not.toBe(first);
  expect(one.entities.get(id)).toEqual(first);
  expect(other.entities.get(id)).toEqual(first);
});

test('every record is found with its value, others are not', async () => {
  await using store = storeOn(madeUp(100_000, 65_536));
  const table = await store.table<RecordFields>(TABLE);
  const random = seededRandom(7);
  for (const index of [0, 99_999, ...Array.from({ length: 50 }, () => randomInt(random, 100_000))])
    expect((await table.get(madeUpKey(index)))?.value).toEqual(fieldsOf(index));
  expect(await table.get(madeUpKey(100_000))).toBeUndefined();
  expect(await table.get('a')).toBeUndefined();
});

test('writes, splits and removals among made-up neighbours leave a sound table', async () => {
  const made = madeUp(3_000, 16_384);
  const written = Array.from({ length: 200 }, (_, at) => `${madeUpKey(2_000 + (at % 20))}+${at}`);
  const store = storeOn(made);
  const table = await store.table<RecordFields>(TABLE);
  await table.put(madeUpKey(2_000), fieldsOf(1));
  await table.putMany(written.map((key) => ({ key, value: fieldsOf(3) })));
  await table.delete(madeUpKey(2_001));
  expect(table.stats().splits).toBeGreaterThan(0);
  expect((await table.get(madeUpKey(2_000)))?.value).toEqual(fieldsOf(1));
  expect((await table.get(madeUpKey(2_019)))?.value).toEqual(fieldsOf(2_019));
  const scanned: string[] = [];
  for await (const { key } of table.scan({ from: madeUpKey(1_900), to: madeUpKey(2_100) })) scanned.push(key);
  const made200 = Array.from({ length: 200 }, (_, at) => madeUpKey(1_900 + at));
  expect(scanned).toEqual([...made200, ...written].filter((key) => key !== madeUpKey(2_001)).toSorted());
  await store.close();
  const provider = new Provider(made.state);
  expect(structureFaults(provider, TABLE, true)).toEqual([]);
  expect(storedRecords(provider, TABLE)).toHaveLength(3_000 - 1 + 200);
});

test('vacuum finds nothing to remove, and a drop leaves no record', async () => {
  const made = madeUp(2_000, 16_384);
  await using store = storeOn(made);
  expect(await store.vacuum(TABLE, { quietMs: 0 })).toMatchObject({ removed: 0, left: 0 });
  await store.drop(TABLE);
  await expect(store.table(TABLE, { create: false })).rejects.toMatchObject({ code: 'not_found' });
  expect([...made.state.entities.keys()].filter((id) => id.startsWith('n!'))).toEqual([]);
});

test.each([
  // The root is a branch of all leaves; then come a leaf's header and one page.
  [1_000_000, 720_000, 3],
  [1_000_000_000, 720_000, 4],
  [1_000_000_000, 65_536, 5],
])('of %i records in containers of %i bytes a cold process reaches any in %i requests', async (records, size, most) => {
  const { state, limits } = madeUp(records, size);
  const { driver, counters } = measured(memoryDriver({ state, limits }));
  await using store = openStore({ driver });
  const table = await store.table<RecordFields>(TABLE);
  const index = Math.floor(records * 0.7) + 3;
  expect((await table.get(madeUpKey(index)))?.value).toEqual(fieldsOf(index));
  expect(counters.readCalls).toBe(most);
});

test('memory keeps the nodes made up last, within its bound', () => {
  const bytesMax = 2 ** 20;
  const { entities } = madeUp(1_000_000, 65_536, bytesMax);
  const leaves = Array.from({ length: 60 }, (_, index) =>
    nodeId(TABLE, MADE_UP_INCARNATION, entities.tree.containerOf({ level: 0, index })),
  );
  const before = leaves.map((id) => entities.get(id)!);
  // From the last on: one that is gone is made up again, as another object.
  const kept = before.toReversed().filter((entity, at) => entities.get(leaves.at(-1 - at)!) === entity);
  const bytes = kept.flatMap(({ parts }) => [...parts.values()]).reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBeLessThanOrEqual(bytesMax);
  expect(bytes).toBeGreaterThan(0.9 * bytesMax);
});

test.each([0, 1.5, 10_000_000_000])('%d records are refused', (records) => {
  expect(() => madeUp(records, 65_536)).toThrow(`records=${records}`);
});

function leafOf({ entities }: MadeUp, index: number): EntityId {
  return nodeId(TABLE, MADE_UP_INCARNATION, entities.tree.containerOf({ level: 0, index }));
}
