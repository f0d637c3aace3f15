// Rule 7 where nothing leaves the process, and what a call hears at its deadline.
import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { fill, items, warm } from './table-steps.ts';
import { isWrite, isWriteOf, key, text } from './world.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const OUTAGE = {
  code: 'unavailable',
  retryable: true,
  message: expect.stringMatching(/^nothing was written: .* connect ECONNREFUSED 127\.0\.0\.1:1/) as string,
};

/** No answer ever comes. */
const SILENCE = { reply: new Promise(() => undefined) };

describe('a write of which nothing left the process', () => {
  test('is sent again, ever later, without a read, and is written once it leaves', async () => {
    const { world, a, tableA } = await warm();
    const sentMs: number[] = [];
    a.rule((call) => {
      if (isWrite(call)) sentMs.push(world.runtime.monotonicMs());
      return isWrite(call) && sentMs.length <= 8 ? { refuse: 'unsent' } : undefined;
    });
    await world.run(tableA.put('k', 'v'));
    expect(a.calls.map(({ kind }) => kind)).toEqual(Array.from({ length: 9 }, () => 'write'));
    expect(sentMs[8]! - sentMs[4]!).toBeGreaterThan(sentMs[4]! - sentMs[0]!);
    expect((await world.run(tableA.get('k')))?.value).toBe('v');
  });

  test.each([
    ['after five seconds', undefined, 4_000, 5_000],
    ['at the deadline', 300, 300, 301],
  ])('%s fails as unavailable, with the cause, and was not written', async (_, timeoutMs, leastMs, mostMs) => {
    const { world, a, b, tableA } = await warm();
    a.rule((call) => (isWrite(call) ? { refuse: 'unsent' } : undefined));
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    for (const change of [
      () => tableA.put('k', 'v', options),
      () => tableA.update('first', () => 'v', options),
      () => tableA.delete('first', options),
    ]) {
      const begunMs = world.runtime.monotonicMs();
      await expect(world.run<unknown>(change())).rejects.toMatchObject({ ...OUTAGE, table: 't', container: 't!t!' });
      const tookMs = world.runtime.monotonicMs() - begunMs;
      expect(tookMs).toBeGreaterThanOrEqual(leastMs);
      expect(tookMs).toBeLessThanOrEqual(mostMs);
    }
    const other = await world.run(b.store.table<string>('t'));
    expect(await world.run(other.get('k'))).toBeUndefined();
    expect((await world.run(other.get('first')))?.value).toBe('0');
  });

  test('fails at once where another try would meet the same', async () => {
    const runtime = new VirtualRuntime();
    const driver = memoryDriver();
    const table = await runtime.run(openStore({ driver, runtime }).table<string>('t'));
    await runtime.run(table.put('k', 'v'));
    await driver.close();
    await expect(runtime.run(table.put('k', 'w'))).rejects.toMatchObject({ code: 'unavailable', retryable: false });
    expect(runtime.monotonicMs()).toBeLessThan(100);
  });

  test.each(['unsent', 'denied'] as const)('that follows one of unknown fate is unknown: %s', async (refuse) => {
    const { world, a, tableA } = await warm();
    a.once(isWriteOf('patch'), { fail: 'unavailable', late: () => {} });
    a.rule((call) => (isWrite(call) && a.writes.length > 1 ? { refuse } : undefined));
    await expect(world.run(tableA.put('k', 'v', { timeoutMs: 8_000 }))).rejects.toMatchObject({
      code: 'unknown',
      cause: { code: 'unavailable' },
    });
  });

  test('fails the commit of a split whose node it was to insert', async () => {
    const { world, a, tableA } = await warm();
    await fill(world, tableA, 0, 25);
    const end = a.rule((call) => (isWriteOf('insert')(call) ? { refuse: 'unsent' } : undefined));
    const outcomes = await world.run(tableA.putMany(items(25, 60)));
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.error] : []));
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) expect(error).toMatchObject(OUTAGE);
    end();
    await world.run(tableA.putMany(items(25, 60)));
    expect((await world.run(tableA.get(key(59))))?.value).toBe(text(59));
  });

  test.each([
    ['unsent', OUTAGE],
    [
      'denied',
      { code: 'unavailable', retryable: false, message: expect.stringContaining('nothing was written') as string },
    ],
  ] as const)(
    'of a table that is made or dropped fails it, and says that nothing was written: %s',
    async (refuse, error) => {
      const { world, a, tableA } = await warm();
      a.rule((call) => (isWrite(call) ? { refuse } : undefined));
      await expect(world.run(a.store.table('u'))).rejects.toMatchObject(error);
      await expect(world.run(a.store.drop('t'))).rejects.toMatchObject(error);
      expect((await world.run(tableA.get('first')))?.value).toBe('0');
    },
  );
});

describe('at its deadline a call hears', () => {
  const THROTTLED = { code: 'throttled', retryable: true, retryAfterMs: 100 };
  const QUICK = { timeoutMs: 4_000 };

  test.each([
    ['nothing but refusals', Infinity],
    ['a refusal, and then nothing', 1],
  ])('what was in the way: %s', async (_, refusals) => {
    const { world, tableA } = await warm();
    await fill(world, tableA, 0, 60);
    const b = world.process();
    const cold = await world.run(b.store.table<string>('t'));
    let calls = 0;
    b.rule(() => ((calls += 1) <= refusals ? { refuse: 'throttled' } : SILENCE));
    for (const call of [
      () => cold.get('k', QUICK),
      () => cold.put('k', 'v', QUICK),
      () => cold.count(QUICK),
      () => b.store.table('u', QUICK),
      () => b.store.tables(QUICK),
    ]) {
      calls = 0;
      await expect(world.run<unknown>(call())).rejects.toMatchObject(THROTTLED);
    }
    calls = 0;
    const [outcome] = await world.run(cold.getMany(['k'], QUICK));
    expect(outcome).toMatchObject({ status: 'failed', error: THROTTLED });
  });

  test('where it waited, if nothing failed', async () => {
    const runtime = new VirtualRuntime();
    const driver = memoryDriver({ limits: { address: 'https://example.org' }, faults: () => SILENCE });
    const store = openStore({ driver, runtime });
    await expect(runtime.run(store.table('t', QUICK))).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'aborted',
      message: 'the deadline passed before anything was written: provider=https://example.org',
    });
  });
});
