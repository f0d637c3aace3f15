// How much a read asks for of a container that the process does not know.
import { expect, test } from 'vitest';
import { World } from '../rules/world.ts';

const KEYS = Array.from({ length: 64 }, (_, number) => `k${number}`);

/** A table of 16 leaves with 64 such records, and the requests that a fresh process sends for a get of each, those for the root left out. */
async function requestsFor(value: string): Promise<string[][]> {
  const world = new World({ limits: {} });
  const writer = await world.run(world.process().store.table<string>('t', { containers: 16 }));
  await world.run(writer.putMany(KEYS.map((key) => ({ key, value }))));
  const fresh = world.process({ cacheBytesMax: 16 * 1024 });
  const table = await world.run(fresh.store.table<string>('t'));
  const sent: string[][] = [];
  for (const key of KEYS) {
    fresh.takeCalls();
    await world.run(table.get(key));
    const requests = fresh.takeCalls().flatMap((call) => (call.kind === 'read' ? call.requests : []));
    const ofLeaves = requests.filter(({ id }) => id.startsWith('n!'));
    sent.push(ofLeaves.map(({ parts }) => (parts === 'all' ? 'whole' : parts.join())));
  }
  return sent;
}

test('where containers are small one that is not known is read whole, once some have shown it', async () => {
  const sent = await requestsFor('small');
  expect(sent[0]).toEqual(['c,h', expect.stringContaining('p') as string]);
  const first = sent.findIndex(([request]) => request === 'whole');
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(16);
  const later = sent.slice(first).filter((requests) => requests.length > 0);
  expect(later.every((requests) => requests.length === 1)).toBe(true);
});

test('where containers are large one that is not known is asked for its header first, and for a page then', async () => {
  const sent = await requestsFor('large'.padEnd(20_000, '.'));
  expect(sent.flat()).not.toContain('whole');
  expect(sent.filter((requests) => requests.length === 2).length).toBeGreaterThan(16);
});
