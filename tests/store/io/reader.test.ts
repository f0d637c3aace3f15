// What a read asks for, and when it departs.
import { expect, test } from 'vitest';
import { World } from '../rules/world.ts';

/** Reads that a store sends at a time before it knows more. */
const IN_FLIGHT_FIRST = 8;
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

test('a check that waited for another takes no departure from a read that came after it', async () => {
  const world = new World({ limits: { readsMax: 1 } });
  const reader = world.process();
  const table = await world.run(reader.store.table<string>('t', { containers: 16 }));
  await world.run(table.putMany(KEYS.map((key) => ({ key, value: key }))));
  // A key of each leaf, in the order in which their checks go out.
  const keyOf = new Map<string, string>();
  for (const key of KEYS) {
    reader.takeCalls();
    await world.run(table.get(key));
    for (const call of reader.takeCalls()) if (call.kind === 'read') keyOf.set(call.requests[0]!.id, key);
  }
  const [first, ...others] = keyOf.values();
  const held: PromiseWithResolvers<undefined>[] = [];
  const end = reader.rule((call) => {
    if (call.kind !== 'read') return undefined;
    held.push(Promise.withResolvers());
    return held.at(-1)!.promise;
  });
  // As many checks as may be in flight at first, then two that wait: one for the check of its leaf, the other for its departure.
  const gets = [first!, ...others.slice(0, IN_FLIGHT_FIRST - 1)].map((key) => table.get(key));
  await world.runtime.advance(0);
  expect(held).toHaveLength(IN_FLIGHT_FIRST);
  end();
  world.runtime.share = 1;
  gets.push(table.get(first!));
  await world.runtime.advance(0);
  gets.push(table.get(others.at(-1)!));
  await world.runtime.advance(0);
  world.runtime.share = 0;
  for (const { resolve } of held.toReversed()) {
    resolve(undefined);
    await world.runtime.advance(0);
  }
  expect(await world.run(Promise.all(gets))).not.toContain(undefined);
});
