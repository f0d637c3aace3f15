// The diagnostics channels: what a subscriber learns of calls, of requests and of events.
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { afterEach, expect, test } from 'vitest';
import { type OperationTrace, type RequestTrace, type StoreEvent, type Table } from '../../../shared/store/index.ts';
import { type Process, World } from '../rules/world.ts';

const endings: (() => unknown)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** Listens until the test ends. Traces are as they ended. */
function listen() {
  const heard = { operations: [] as OperationTrace[], requests: [] as RequestTrace[], events: [] as StoreEvent[] };
  const hear = (name: string, into: unknown[]): void => {
    const ended = { asyncEnd: (trace: unknown) => void into.push(trace) };
    const traces = tracingChannel(name);
    traces.subscribe(ended as never);
    endings.push(() => traces.unsubscribe(ended as never));
  };
  hear('stowage:operation', heard.operations);
  hear('stowage:request', heard.requests);
  const event = (message: unknown): void => void heard.events.push(message as StoreEvent);
  channel('stowage:event').subscribe(event);
  endings.push(() => channel('stowage:event').unsubscribe(event));
  return heard;
}

async function opened(): Promise<{ world: World; process: Process; table: Table<number> }> {
  const world = new World();
  const process = world.process();
  return { world, process, table: await world.run(process.store.table<number>('users', { order: 'key' })) };
}

/** One after the other, on the world's clock. */
async function played(world: World, ...calls: (() => Promise<unknown>)[]): Promise<void> {
  for (const call of calls) await world.run(call());
}

test('a put and a get are one operation each, with the requests sent for them', async () => {
  const { world, table } = await opened();
  const heard = listen();
  await played(
    world,
    () => table.put('ada', 1),
    () => table.get('ada'),
    () => table.get('ada', { maxAgeMs: 60_000 }),
  );
  const [put, get, remembered] = heard.operations;
  expect(put).toMatchObject({ operation: 'put', table: 'users', requests: 1, bytesRead: 0, outcome: 'ok' });
  expect(put?.bytesWritten).toBeGreaterThan(0);
  expect(get).toMatchObject({
    operation: 'get',
    table: 'users',
    requests: 1,
    cacheHits: 1,
    bytesRead: 8,
    bytesWritten: 0,
  });
  expect(remembered).toMatchObject({ operation: 'get', requests: 0, cacheHits: 1 });
  expect(heard.requests).toMatchObject([
    { kind: 'write', table: 'users', entities: 1, bytesWritten: put?.bytesWritten, outcome: 'ok' },
    { kind: 'read', table: 'users', entities: 1, bytesRead: 8, outcome: 'ok' },
  ]);
  expect(heard.requests.map(({ operation }) => operation)).toEqual([put, get]);
});

test('a request for a change that waited belongs to its own call, not to the one before', async () => {
  const { world, table } = await opened();
  const heard = listen();
  const both = Promise.all([table.put('one', 1), world.runtime.nextTurn().then(() => table.put('two', 2))]);
  await world.run(both);
  expect(heard.operations.map(({ requests }) => requests)).toEqual([1, 1]);
  expect(heard.requests.map(({ operation }) => operation)).toEqual(heard.operations);
});

test('a request that several calls share counts for the first of them', async () => {
  const { world, table } = await opened();
  const heard = listen();
  await world.run(Promise.all([table.put('one', 1), table.put('two', 2)]));
  expect(heard.requests).toHaveLength(1);
  expect(heard.operations.map(({ requests }) => requests).toSorted((a, b) => a - b)).toEqual([0, 1]);
});

test('a conflict, an unknown outcome and throttling are events of the call that met them', async () => {
  const { world, process, table } = await opened();
  await world.run(table.put('k', 0));
  const other = await world.run(world.process().store.table<number>('users'));
  await world.run(other.put('k', 1));
  const heard = listen();
  await world.run(table.put('k', 2));
  expect(heard.operations).toMatchObject([{ operation: 'put', conflicts: 1, requests: 3, outcome: 'ok' }]);
  expect(heard.requests.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
    'write condition',
    'read ok',
    'write ok',
  ]);
  process.once(({ kind }) => kind === 'write', { fail: 'unavailable' });
  await world.run(table.put('k', 3));
  process.once(({ kind }) => kind === 'write', { refuse: 'throttled' });
  await world.run(table.put('k', 4));
  process.once(({ kind }) => kind === 'read', { fail: 'throttled' });
  await world.run(table.get('k'));
  const [first, second, third, fourth] = heard.operations;
  const told = (name: StoreEvent['event']) => heard.events.filter(({ event }) => event === name);
  expect(told('conflicts')).toEqual([{ event: 'conflicts', count: 1, table: 'users', operation: first }]);
  expect(told('unknownOutcomes').map(({ operation }) => operation)).toEqual([second]);
  expect(told('throttled').map(({ operation }) => operation)).toEqual([third, fourth]);
});

test('a split and the repair of its parent are events', async () => {
  const { world, table } = await opened();
  const heard = listen();
  for (let each = 0; each < 400; each += 20) {
    const items = Array.from({ length: 20 }, (_, index) => ({ key: `key-${1_000 + each + index}`, value: each }));
    await world.run(table.putMany(items));
  }
  const names = new Set(heard.events.map(({ event }) => event));
  expect([...names]).toEqual(expect.arrayContaining(['commits', 'splits', 'repairs']));
  expect(heard.events.filter(({ event }) => event === 'splits').length).toBe(table.stats().splits);
});

test('a scan is one operation per leaf, and a count is one alone', async () => {
  const { world, table } = await opened();
  await world.run(table.put('ada', 1));
  const heard = listen();
  await world.run(Promise.resolve(table.scan()[Symbol.asyncIterator]().next()));
  await world.run(table.count());
  expect(heard.operations.map(({ operation }) => operation)).toEqual(['scan', 'count']);
});

test('the outcome of a call is the code of its error, or of the first item that failed', async () => {
  const { world, table } = await opened();
  await world.run(table.put('ada', 1));
  const heard = listen();
  await world.run(table.put('ada', 2, { ifAbsent: true }).catch(() => {}));
  await world.run(
    table.putMany([
      { key: 'bob', value: 1 },
      { key: 'ada', value: 2, ifAbsent: true },
    ]),
  );
  await world.run(table.get('ada', { more: 1 } as never).catch(() => {}));
  expect(heard.operations.map(({ outcome }) => outcome)).toEqual(['conflict', 'conflict', 'failed']);
});

test('without a subscriber no call is followed', async () => {
  const { world, table } = await opened();
  const begun = table.put('ada', 1);
  const heard = listen();
  await world.run(begun);
  expect(heard.operations).toEqual([]);
  expect(heard.requests.map(({ operation }) => operation)).toEqual([undefined]);
});
