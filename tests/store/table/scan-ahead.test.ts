// A scan reads ahead: little at first, then many small leaves or few large ones.
import { expect, test } from 'vitest';
import type { Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { keysBy } from '../rules/table-steps.ts';
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

test('a scan reads many small leaves ahead in the end, each of them once and several per request', async () => {
  const { process, table } = await tableOf(100, 16_384);
  await world.run(table.get(key(0)));
  const reads = watchReads(process);
  await keysBy(world, table);
  expect(reads.most).toBeGreaterThan(2 * LEAST);
  expect(reads.most).toBeLessThanOrEqual(MOST);
  expect(reads.all).toBe(leavesOf(world.state, 't').length);
  expect(reads.requests).toBeLessThan(reads.all / 3);
});

test('a scan reads few large leaves ahead', async () => {
  const { process, table } = await tableOf(24, 1_000_000);
  await world.run(table.get(key(0)));
  const reads = watchReads(process);
  await keysBy(world, table);
  expect(reads.most).toBeLessThanOrEqual(8);
});
