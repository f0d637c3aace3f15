// A scan reads ahead: little at first, then many small leaves or few large ones.
import { expect, test } from 'vitest';
import type { Table } from '../../../shared/store/index.ts';
import { childrenOf } from '../../../shared/store/container/branch.ts';
import { leavesOf, storedRoot } from '../rules/tree-of.ts';
import { keys, keysBy } from '../rules/table-steps.ts';
import { key, type Process, text, World } from '../rules/world.ts';

const LEAST = 4;
const MOST = 32;

let world: World;

/** A table of about so many leaves, and a process that has not seen them. */
async function tableOf(leaves: number, containerBytesMax: number): Promise<{ process: Process; table: Table<string> }> {
  world = new World({ limits: {} });
  const options = { order: 'key', containerBytesMax } as const;
  const table = await world.run(world.process().store.table<string>('t', options));
  const bytes = Math.min(50_000, containerBytesMax / 8);
  for (let number = 0; leavesOf(world.state, 't').length < leaves; number += 1)
    await world.run(table.put(key(number), text(number, bytes)));
  const process = world.process();
  return { process, table: await world.run(process.store.table<string>('t', options)) };
}

/** Reads of leaves, and the requests that they took; the most that were unanswered at a time. */
function watchReads(process: Process) {
  const seen = { all: 0, requests: 0, unanswered: 0, most: 0 };
  process.rule((call) => {
    if (call.kind !== 'read') return undefined;
    seen.requests += 1;
    seen.all += call.requests.length;
    seen.unanswered += call.requests.length;
    seen.most = Math.max(seen.most, seen.unanswered);
    const reply = world.runtime.sleep(100).then(() => (seen.unanswered -= call.requests.length));
    return { reply };
  });
  return seen;
}

test('a scan that is left at its first record has read the root, a leaf, and few others', async () => {
  const { process, table } = await tableOf(60, 16_384);
  await world.run(table.get(key(0)));
  const reads = watchReads(process);
  await world.run(Promise.resolve(table.scan()[Symbol.asyncIterator]().next()));
  expect(reads.all).toBeLessThanOrEqual(1 + LEAST);
});

test('of small leaves many are read ahead in the end, each is read once, and several share a request', async () => {
  const { process, table } = await tableOf(100, 16_384);
  await world.run(table.get(key(0)));
  const reads = watchReads(process);
  await keysBy(world, table);
  expect(reads.most).toBeGreaterThan(2 * LEAST);
  expect(reads.most).toBeLessThanOrEqual(MOST);
  expect(reads.all).toBe(leavesOf(world.state, 't').length);
  expect(reads.requests).toBeLessThan(reads.all / 3);
});

test('entries that a leaf keeps of others it took in do not use up what is read ahead', async () => {
  const { table } = await tableOf(150, 16_384);
  await world.run(table.deleteMany(keys(0, 1_500).filter((_, number) => number % 4 > 0)));
  const children = (): string[] => childrenOf(storedRoot(world.state, 't'), 't').map(({ child }) => child);
  // The vacuum merges, and cannot drop the entries that are left over.
  const vacuumer = world.process();
  vacuumer.rule((call) =>
    call.kind === 'write' && call.writes.some(({ id }) => id === storedRoot(world.state, 't').id)
      ? { fail: 'unavailable' }
      : undefined,
  );
  await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000, containerBytesMax: 16_384 })).catch(() => undefined);
  // Whoever is led astray by an entry has it name the leaf that took the other in.
  await world.run((await world.run(world.process().store.table<string>('t'))).getMany(keys(0, 1_500)));
  await world.run(world.runtime.sleep(60_000));
  expect(new Set(children()).size).toBe(leavesOf(world.state, 't').length);
  expect(children().length).toBeGreaterThan(140);
  const process = world.process();
  const cold = await world.run(process.store.table<string>('t'));
  await world.run(cold.get(key(0)));
  const reads = watchReads(process);
  await keysBy(world, cold);
  expect(reads.most).toBeGreaterThan(LEAST);
  expect(reads.all).toBe(leavesOf(world.state, 't').length);
});

test('of large leaves few are read ahead', async () => {
  const { process, table } = await tableOf(24, 1_000_000);
  await world.run(table.get(key(0)));
  const reads = watchReads(process);
  await keysBy(world, table);
  expect(reads.most).toBeLessThanOrEqual(8);
});
