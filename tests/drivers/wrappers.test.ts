// The wrappers of drivers: misuse is a TypeError, and nothing is sent; what is asked is counted.
import { expect, test } from 'vitest';
import { CALL, insert, part, patch, readOne, textOf, written } from '../../shared/drivers/conformance/check-calls.ts';
import { measured } from '../../shared/drivers/measured.ts';
import { memoryDriver, type MemoryFaults } from '../../shared/drivers/memory.ts';
import type { Driver, Part, ReadRequest, Removal, Write } from '../../shared/store/contract/driver.ts';
import { entityId, entityVersion } from '../support/ids.ts';
import { A, INSERT, READ, REMOVALS } from './one-of-each.ts';

const ids = Array.from({ length: 4 }, (_, number) => entityId(`a${number}`));
const inserts = ids.map((id) => insert(id, [part('h', 'x')]));
const ofParts = (...parts: readonly Part[]) => [insert(A, parts)];

const lane = (id: string): string => id[0]!;

/** It holds the entity `kept`, and its lane is an id's first letter. */
async function limited(): Promise<Driver> {
  const limits = { readsMax: 3, writesMax: 3, listMax: 10, writeBytesMax: 100, idBytesMax: 10, lane };
  const driver = memoryDriver({ limits });
  await written(driver, insert(entityId('kept'), [part('h', 'kept')]));
  return driver;
}

test.each<[what: string, writes: readonly Write[]]>([
  ...['', '*', 'W/"*"', undefined as unknown as string].flatMap((version): [string, Write[]][] => [
    [`a patch at the version ${version}`, [patch(entityId('kept'), entityVersion(version), [part('h', 'lost', 1)])]],
    [
      `a replace at the version ${version}`,
      [{ ...patch(entityId('kept'), entityVersion(version), []), kind: 'replace' } as Write],
    ],
  ]),
  ['a large part without a number', ofParts(part('h', 'x'.repeat(40_000)))],
  ['an entity twice', [INSERT, INSERT]],
  ['two lanes', [INSERT, insert(entityId('b'), [])]],
  ['more writes than the limit', inserts],
  ['no write', []],
  [
    'more bytes than the limit',
    inserts.slice(0, 2).map((write) => ({ ...write, parts: [part('p0', 'x'.repeat(51))] })),
  ],
  ...['', 'a/b', 'a b', "a'b", 'ä', 'a'.repeat(11)].map((id): [string, Write[]] => [
    `the id ${JSON.stringify(id)}`,
    [insert(entityId(id), [])],
  ]),
  ...['', 'H', 'p12345', 'pp', 'p_1', '1'].map((name): [string, Write[]] => [
    `the part ${JSON.stringify(name)}`,
    ofParts(part(name, 'x')),
  ]),
  ['a part twice', ofParts(part('h', 'x'), part('h', 'y'))],
  ['a count of chunks that is none', ofParts(part('h', 'x', -1))],
])('invariant 5: a write of %s is misuse, and changes nothing', async (_, writes) => {
  const driver = await limited();
  await expect(driver.write(writes, CALL)).rejects.toThrow(TypeError);
  expect((await driver.list('', undefined, 10, CALL)).ids).toEqual(['kept']);
  expect(textOf(await readOne(driver, entityId('kept')))).toEqual({ h: 'kept' });
});

const read = (requests: readonly ReadRequest[]) => (driver: Driver) => driver.read(requests, CALL);
const remove = (removals: readonly Removal[]) => (driver: Driver) => driver.remove(removals, CALL);
const list = (prefix: string, count: number) => (driver: Driver) => driver.list(prefix, undefined, count, CALL);

test.each<[what: string, call: (driver: Driver) => Promise<unknown>]>([
  ['a removal without a version', remove([{ id: A, version: entityVersion('') }])],
  ['a removal at any version', remove([{ id: A, version: entityVersion('*') }])],
  ['a removal of an entity twice', remove([...REMOVALS, ...REMOVALS])],
  ['a read of an entity twice', read([...READ, ...READ])],
  ['a read of more entities than the limit', read(ids.map((id) => ({ id, parts: 'all' })))],
  ['a read of a bad id', read([{ id: entityId('a/b'), parts: 'all' }])],
  ['a listing of more ids than the limit', list('a', 11)],
  ['a listing of no id', list('a', 0)],
  ['a listing of a bad prefix', list("a'", 10)],
])('%s is misuse', async (_, call) => {
  await expect(call(await limited())).rejects.toThrow(TypeError);
});

test('calls, entities and bytes are counted both ways', async () => {
  const { driver, counters } = measured(memoryDriver());
  await driver.write([insert(entityId('a'), [part('h', 'four')]), insert(entityId('b'), [part('h', 'three')])], CALL);
  await driver.read(
    ['a', 'b', 'c'].map((id) => ({ id: entityId(id), parts: 'all' })),
    CALL,
  );
  await driver.list('', undefined, 10, CALL);
  expect(counters).toMatchObject({ writeCalls: 1, inserts: 2, entitiesWritten: 2, bytesWritten: 9 });
  expect(counters).toMatchObject({ readCalls: 1, entitiesAsked: 3, bytesRead: 9 });
  expect(counters).toMatchObject({ listCalls: 1 });
});

test('refusals, unknowns and throttles are told apart', async () => {
  let throttle: 'fail' | 'refuse' | undefined;
  const faults: MemoryFaults = () => (throttle === undefined ? undefined : { [throttle]: 'throttled' });
  const { driver, counters } = measured(memoryDriver({ faults }));
  await driver.write([patch(entityId('missing'), entityVersion('v1'), [part('h', 'x')])], CALL);
  for (throttle of ['refuse', 'fail'] as const) await driver.write([insert(entityId('a'), [part('h', 'x')])], CALL);
  await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'throttled' });
  expect(counters).toMatchObject({ refusedCondition: 1, unknown: 1, throttled: 3 });
});
