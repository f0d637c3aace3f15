// Bulk calls yield to the event loop, so that timers, replies, signals and deadlines are noticed.
import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore, type Table } from '../../../shared/store/index.ts';
import { Turns } from '../../../shared/store/io/turns.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const COUNT = 20_000;
const ITEMS = Array.from({ length: COUNT }, (_, index) => ({ key: `key${index}`, value: index }));
const KEYS = ITEMS.map(({ key }) => key);
/** How far each reading of the clock moves it on. */
const STEP_MS = 0.01;
/** A turn lasts 10 ms, up to two of them may join, and a quarter is margin. */
const STEPS_A_TURN_MOST = 2_500;

/** A clock that each reading moves on, as if work had been done since the one before. */
class SlowRuntime extends VirtualRuntime {
  steps = 0;
  longest = 0;
  #stepsNow = 0;

  override monotonicMs(): number {
    this.steps += 1;
    this.#stepsNow += 1;
    this.longest = Math.max(this.longest, this.#stepsNow);
    return super.monotonicMs() + this.steps * STEP_MS;
  }

  override nextTurn(): Promise<void> {
    return super.nextTurn().then(() => {
      this.#stepsNow = 0;
    });
  }
}

async function slowTable() {
  const runtime = new SlowRuntime();
  const store = openStore({ driver: memoryDriver(), runtime, timeoutMs: 1_000_000 });
  const table = await runtime.run(store.table<number>('t', { containers: 8 }));
  return { runtime, table };
}

test.each([0, 1, 5_000, 5_001, 32_123])(
  'Turns.sort returns %d items in order and leaves its input alone',
  async (count) => {
    const draw = seededRandom(count);
    const items = Array.from({ length: count }, () => Math.floor(draw() * 10_000));
    const before = items.slice();
    expect(await new Turns(new VirtualRuntime()).sort(items, (a, b) => a - b)).toEqual(items.toSorted((a, b) => a - b));
    expect(items).toEqual(before);
  },
);

const works: Record<string, (table: Table<number>) => Promise<unknown>> = {
  putMany: (table) => table.putMany(ITEMS),
  getMany: (table) => table.getMany(KEYS),
  'a scan': async (table) => {
    for await (const _ of table.scan());
  },
};

test('Turns.sort yields while it sorts many items', async () => {
  const runtime = new SlowRuntime();
  const items = Array.from({ length: 50_000 }, (_, index) => (index * 7_919) % 50_000);
  await runtime.run(new Turns(runtime).sort(items, (a, b) => a - b));
  expect(runtime.longest).toBeLessThanOrEqual(STEPS_A_TURN_MOST);
});

test('bulk calls read the clock for each value that takes long to encode or decode', async () => {
  const { runtime, table } = await slowTable();
  const looksAt = async (bytes: number): Promise<{ putting: number; scanning: number }> => {
    const items = Array.from({ length: 40 }, (_, index) => ({ key: `k${index}`, value: 'x'.repeat(bytes) }));
    const before = runtime.steps;
    await runtime.run((table as Table<unknown>).putMany(items));
    const put = runtime.steps;
    await runtime.run(works['a scan']!(table));
    return { putting: put - before, scanning: runtime.steps - put };
  };
  await looksAt(10);
  const small = await looksAt(10);
  const large = await looksAt(2_000);
  expect(large.putting).toBeGreaterThan(small.putting + 30);
  expect(large.scanning).toBeGreaterThan(small.scanning + 30);
});

describe('on a machine whose clock moves with the work', () => {
  test.each(Object.keys(works))('%s yields about every 10 ms', async (name) => {
    const { runtime, table } = await slowTable();
    await runtime.run(table.putMany(ITEMS));
    const [turnsBefore, stepsBefore] = [runtime.turns, runtime.steps];
    runtime.longest = 0;
    await runtime.run(works[name]!(table));
    expect(runtime.turns - turnsBefore).toBeGreaterThanOrEqual((runtime.steps - stepsBefore) / STEPS_A_TURN_MOST);
    expect(runtime.turns - turnsBefore).toBeGreaterThan(5);
    expect(runtime.longest).toBeLessThan(STEPS_A_TURN_MOST);
  });

  test('a lone call never yields', async () => {
    const { runtime, table } = await slowTable();
    await runtime.run(table.put('a', 1));
    const before = runtime.turns;
    for (let count = 0; count < 100; count += 1) {
      await runtime.run(table.put('a', count));
      await runtime.run(table.get('a'));
      await runtime.run(table.delete('a'));
    }
    expect(runtime.turns).toBe(before);
  });
});

describe('on the real clock', () => {
  test('a timer that aborts a bulk write fires in the middle of it, and what was not sent is aborted', async () => {
    const store = openStore({ driver: memoryDriver() });
    const table = await store.table<number>('t');
    const abort = new AbortController();
    // Two turns later: the bulk has begun by then, and cannot be done.
    setTimeout(() => setTimeout(() => abort.abort(), 0), 0);
    const outcomes = await table.putMany(ITEMS, { signal: abort.signal });
    const aborted = outcomes.filter((outcome) => outcome.status === 'failed' && outcome.error.code === 'aborted');
    expect(aborted.length).toBeGreaterThan(COUNT / 2);
    for (const { key } of aborted.slice(0, 100)) expect(await table.get(key)).toBeUndefined();
    await store.close();
  });

  test.each(['putMany', 'getMany'] as const)('%s ends at its deadline', async (verb) => {
    const store = openStore({ driver: memoryDriver() });
    const table = await store.table<number>('t');
    if (verb !== 'putMany') await table.putMany(ITEMS);
    const options = { timeoutMs: 1 };
    const ended = verb === 'putMany' ? table.putMany(ITEMS, options) : table[verb](KEYS, options);
    const failed = (await ended).filter((outcome) => outcome.status === 'failed').map(({ error }) => error.code);
    expect(failed.length).toBeGreaterThan(COUNT / 2);
    expect(new Set(failed).has('aborted')).toBe(true);
    await store.close();
  });
});

test('fifty bulk calls that wait for the same turn do not all work in it', async () => {
  const runtime = new SlowRuntime();
  const turns = new Turns(runtime);
  const works = Array.from({ length: 50 }, () =>
    turns.forEach(Array.from({ length: 500 }), () => runtime.monotonicMs()),
  );
  await Promise.all(works);
  expect(runtime.longest).toBeLessThan(STEPS_A_TURN_MOST);
});
