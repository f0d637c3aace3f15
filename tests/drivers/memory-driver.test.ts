import { expect, test } from 'vitest';
import { memoryDriver, type MemoryFault, type MemoryFaults, memoryState } from '../../shared/drivers/memory.ts';
import type { EntityVersion, Write } from '../../shared/store/contract/driver.ts';
import { CALL, insert, part, patch, readOne, textOf } from '../../shared/drivers/conformance/check-calls.ts';
import { entityId, partName } from '../support/ids.ts';
import { A, READ } from './one-of-each.ts';

function nothing(): void {}

const inserted = (id: string, text = 'x'): Write => insert(entityId(id), [part('h', text)]);

/** Lets exactly the first call go wrong. */
function once(fault: MemoryFault): MemoryFaults {
  let used = false;
  return () => {
    if (used) return undefined;
    used = true;
    return fault;
  };
}

function twoProcesses(faults: MemoryFaults) {
  const state = memoryState();
  return { faulty: memoryDriver({ state, faults }), other: memoryDriver({ state }) };
}

async function idsOf(driver: ReturnType<typeof memoryDriver>): Promise<readonly string[]> {
  return (await driver.list('', undefined, 100, CALL)).ids;
}

async function versionOf(driver: ReturnType<typeof memoryDriver>, id: string): Promise<EntityVersion> {
  return (await readOne(driver, entityId(id)))!.version;
}

test.each<[string, MemoryFault, string, string[]]>([
  ['fails has no effect', { fail: 'throttled' }, 'throttled', []],
  ['loses its reply is applied', { replyLost: true }, 'other', ['a', 'b', 'c']],
  ['fails in part is applied in part', { only: [0, 2] }, 'other', ['a', 'c']],
])('a write that %s, and is unknown', async (_, fault, reason, ids) => {
  const { faulty, other } = twoProcesses(once(fault));
  const unknown = { kind: 'unknown', reason };
  expect(
    await faulty.write(
      ['a', 'b', 'c'].map((id) => inserted(id)),
      CALL,
    ),
  ).toEqual([unknown, unknown, unknown]);
  expect(await idsOf(other)).toEqual(ids);
});

test.each([
  ['is applied when the test says so', [], 'late'],
  ['changes nothing if its condition no longer holds', [inserted('a', 'first')], 'first'],
])('a late write is unknown first, and %s', async (_, meanwhile, text) => {
  let deliver = nothing;
  const { faulty, other } = twoProcesses(once({ late: (apply) => (deliver = apply) }));
  expect(await faulty.write([inserted('a', 'late')], CALL)).toEqual([{ kind: 'unknown', reason: 'other' }]);
  expect(await idsOf(other)).toEqual([]);
  if (meanwhile.length > 0) await other.write(meanwhile, CALL);
  deliver();
  expect(textOf(await readOne(other, A))).toEqual({ h: text });
});

test('a doubled write answers by its first delivery', async () => {
  const { faulty, other } = twoProcesses(once({ again: (deliver) => deliver() }));
  const [outcome] = await faulty.write([inserted('a')], CALL);
  expect(outcome).toEqual({ kind: 'written', version: await versionOf(other, 'a') });
});

test('a listing may answer an empty page with a cursor', async () => {
  const { faulty, other } = twoProcesses(once({ emptyPage: true }));
  await other.write([inserted('a')], CALL);
  const first = await faulty.list('', undefined, 10, CALL);
  expect(first.ids).toEqual([]);
  expect(await faulty.list('', first.cursor, 10, CALL)).toEqual({ ids: ['a'], cursor: undefined });
});

test('a write that changes nothing keeps the version', async () => {
  const driver = memoryDriver();
  await driver.write([inserted('a')], CALL);
  const version = await versionOf(driver, 'a');
  expect(await driver.write([patch(A, version, [part('h', 'x', 1)])], CALL)).toEqual([{ kind: 'written', version }]);
});

test('a failed request of several writes has applied those before the bad one', async () => {
  const driver = memoryDriver();
  await driver.write([inserted('b')], CALL);
  const outcomes = await driver.write([inserted('a'), inserted('b'), inserted('c')], CALL);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown']);
  expect(await idsOf(driver)).toEqual(['a', 'b']);
});

test('emptied chunks count against the limit until a replace', async () => {
  const driver = memoryDriver({ limits: { chunkBytes: 10, chunksMax: 3 } });
  await driver.write([insert(A, [part('p0', 'x'.repeat(30))])], CALL);
  await driver.write([patch(A, await versionOf(driver, 'a'), [part('p0', '', 3)])], CALL);
  const version = await versionOf(driver, 'a');
  const grow = (kind: 'patch' | 'replace') => driver.write([{ kind, id: A, version, parts: [part('p1', 'y')] }], CALL);
  expect(await grow('patch')).toMatchObject([{ kind: 'refused', reason: 'limit' }]);
  expect(await grow('replace')).toMatchObject([{ kind: 'written' }]);
});

test('a write that forgets chunks it leaves behind is misuse', async () => {
  const driver = memoryDriver({ limits: { chunkBytes: 10 } });
  await driver.write([inserted('a', 'x'.repeat(25))], CALL);
  const version = await versionOf(driver, 'a');
  await expect(driver.write([patch(A, version, [part('h', 'y', 1)])], CALL)).rejects.toThrow(TypeError);
});

test('a caller that changes its buffer afterwards changes nothing stored', async () => {
  const driver = memoryDriver();
  const bytes = Buffer.from('kept');
  await driver.write([insert(A, [part('h', bytes)])], CALL);
  bytes.fill(0);
  const [entity] = await driver.read(READ, CALL);
  entity!.parts.get(partName('h'))!.fill(1);
  expect(textOf(await readOne(driver, A))).toEqual({ h: 'kept' });
});
