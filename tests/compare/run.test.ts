import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { decodeHistogram } from '../../shared/compare/cell/histogram.ts';
import { CellError, removeDataset, runCell } from '../../shared/compare/cell/run.ts';
import { cell, FakeClock, fakeTargets } from './fakes.ts';

const signal = new AbortController().signal;

describe('a cell', () => {
  test('counts the replies within the window, and neither warm-up nor what was only sent', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 10 });
    const result = await runCell(cell({ workload: 'load' }), targets, { signal, runtime: clock.runtime });
    // 20 ms of warm-up at 10 ms a record: the second one's reply arrives as the window opens and counts. 100 ms of window: ten more, the
    // last as it closes.
    expect(result.recordsTotal).toBe(12);
    expect(result.records).toBe(11);
    expect(result.durationMs).toBe(100);
    expect(decodeHistogram(result.histogram).totalCount).toBe(10);
  });

  test('counts errors by code, and not as records', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 1, fail: failEverySecond });
    const result = await runCell(cell({ warmupMs: 0 }), targets, { signal, runtime: clock.runtime });
    expect(result.errors).toEqual({ throttled: 50 });
    expect(result.records).toBe(50);
  });

  test('in which nothing succeeded is an error that names the codes', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 5, fail: failAlways });
    const running = runCell(cell({ warmupMs: 0 }), targets, { signal, runtime: clock.runtime });
    await expect(running).rejects.toThrow(/no operation succeeded.*14=/);
    await expect(running).rejects.toBeInstanceOf(CellError);
  });

  test('counts the failed records of a batch apart from its written ones', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 50 });
    const request = cell({ layout: 'container', warmupMs: 0 });
    const result = await runCell(request, targets, { signal, runtime: clock.runtime });
    expect(result.records).toBe(2 * 499);
    expect(result.errors).toEqual({ Error: 2 });
  });

  test('makes its window up to three times longer for two replies a caller', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 90 });
    const result = await runCell(cell({ layout: 'container', warmupMs: 0 }), targets, {
      signal,
      runtime: clock.runtime,
    });
    expect(result.durationMs).toBe(180);
  });

  test('makes its window up to ten times longer for the first reply', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 700 });
    const request = cell({ layout: 'container', warmupMs: 0 });
    const result = await runCell(request, targets, { signal, runtime: clock.runtime });
    expect(result.durationMs).toBe(700);
    expect(result.records).toBe(499);
  });

  test('hands over 500 records a call, as five transactions of 100 where that is the most', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 10 });
    await runCell(cell({ layout: 'batch' }), targets, { signal, runtime: clock.runtime });
    expect(new Set(targets.log)).toEqual(new Set(['putMany 100']));
    expect(targets.log.length % 5).toBe(0);
  });

  test('reads single records in the batch layout where there is no batched get', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 10, getManyMax: 1 });
    const result = await runCell(cell({ layout: 'batch', workload: 'read' }), targets, {
      signal,
      runtime: clock.runtime,
    });
    expect(new Set(targets.log)).toEqual(new Set(['get 1']));
    expect(result.recordsPerCall).toBe(1);
  });

  test('loads the records it reads when they are missing, and fails when they do not stay', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 1, empty: true });
    const running = runCell(cell({ workload: 'read', records: 1_000 }), targets, { signal, runtime: clock.runtime });
    await expect(running).rejects.toThrow(/absent=/);
    expect(targets.log.filter((line) => line.startsWith('putMany'))).toHaveLength(11);
  });

  test('reads and replaces in about equal parts in the update workload', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 0.1 });
    await runCell(cell({ workload: 'update' }), targets, { signal, runtime: clock.runtime });
    const reads = targets.log.filter((line) => line === 'get 1').length;
    const writes = targets.log.filter((line) => line === 'replace 1').length;
    expect(reads / (reads + writes)).toBeGreaterThan(0.44);
    expect(reads / (reads + writes)).toBeLessThan(0.56);
  });

  test('says how much of its working time it waited for a processor', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 10 });
    const result = await runCell(cell({}), targets, { signal, runtime: clock.runtime });
    expect(result).toMatchObject({ processorWait: 0.25, processorStolen: 0 });
    const silent = { ...targets, processorTimes: () => undefined };
    const unknown = await runCell(cell({ dataset: 'test2' }), silent, { signal, runtime: clock.runtime });
    expect(unknown).toMatchObject({ processorWait: null, processorStolen: null });
  });

  test.each(['load', 'read'] as const)(
    'whose %s is aborted ends when nothing of it is in flight any more',
    async (workload) => {
      const clock = new FakeClock();
      const aborted = new AbortController();
      const inFlight: (() => void)[] = [];
      const targets = fakeTargets({ clock, latencyMs: 1, empty: true });
      const open = await targets.baseline.open('test1');
      const hang = (): Promise<void> => new Promise((resolve) => inFlight.push(resolve));
      const baseline = { ...targets.baseline, open: async () => ({ ...open, insert: hang, putMany: hang }) };
      let over = false;
      const running = runCell(
        cell({ workload }),
        { ...targets, baseline },
        { signal: aborted.signal, runtime: clock.runtime },
      );
      const ended = running.catch((error: unknown) => error).finally(() => (over = true));
      while (inFlight.length === 0) await yieldToEvents();
      aborted.abort(new Error('enough'));
      await yieldToEvents();
      expect(over).toBe(false);
      for (const resolve of inFlight) resolve();
      expect(await ended).toMatchObject({ message: 'enough' });
    },
  );

  test('ends with the reason of its signal', async () => {
    const clock = new FakeClock();
    const targets = fakeTargets({ clock, latencyMs: 1 });
    const running = runCell(cell({}), targets, {
      signal: AbortSignal.abort(new Error('enough')),
      runtime: clock.runtime,
    });
    await expect(running).rejects.toThrow('enough');
  });
});

describe('removing a dataset', () => {
  test('removes entities and container table, the latter too where the former stay', async () => {
    const targets = fakeTargets({ clock: new FakeClock(), latencyMs: 1 });
    await removeDataset('test1', targets, signal);
    expect(targets.log).toEqual(['remove test1', 'drop test1']);
    const baseline = { ...targets.baseline, remove: () => Promise.reject(new Error('no')) };
    await expect(removeDataset('test2', { ...targets, baseline }, signal)).rejects.toThrow('no');
    expect(targets.log.at(-1)).toBe('drop test2');
  });
});

function failEverySecond(sent: number): void {
  if (sent % 2 === 0) throw Object.assign(new Error('slow down'), { code: 'throttled' });
}

function failAlways(): void {
  throw Object.assign(new Error('no'), { code: 14 });
}
