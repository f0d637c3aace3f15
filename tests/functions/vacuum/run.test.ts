// A run over all tables: how many go side by side, how long each waits to be quiet, and which are
// left to the next run.
import { expect, test } from 'vitest';
import { vacuumAll, runLine } from '../../../functions/vacuum/vacuum-all.ts';
import type { Store, VacuumOptions, VacuumReport } from '../../../shared/store/index.ts';

const COUNTS = 'removed listed left foreign passed merged movedBytes stripped purged busy damaged entriesDropped';
/** Each count differs from the others, so that a sum shows which one it is of. */
const REPORT = Object.fromEntries(COUNTS.split(' ').map((name, at) => [name, at + 1])) as unknown as VacuumReport;

/** A store of so many tables, whose vacuum is this. */
function storeOf(count: number, vacuum: (name: string, options: VacuumOptions) => Promise<VacuumReport>): Store {
  const names = Array.from({ length: count }, (_, index) => `t${index}`);
  return { tables: async () => names.map((name) => ({ name, order: 'hash', createdAtMs: 0 })), vacuum } as Store;
}

function optionsOf(timeoutMs: number) {
  return { timeoutMs, signal: new AbortController().signal };
}

test('a run vacuums each table once, eight at a time, and adds up their reports', async () => {
  const seen: string[] = [];
  let atOnce = 0;
  let most = 0;
  const store = storeOf(20, async (name) => {
    seen.push(name);
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise(setImmediate);
    atOnce -= 1;
    return REPORT;
  });
  const run = await vacuumAll(store, optionsOf(60_000));
  expect(seen.toSorted()).toEqual(Array.from({ length: 20 }, (_, index) => `t${index}`).toSorted());
  expect(most).toBe(8);
  const totals = Object.fromEntries(Object.entries(REPORT).map(([name, count]) => [name, 20 * count]));
  expect(run).toEqual({ tables: 20, unreached: 0, unfinished: [], failed: [], ...totals });
});

test.each([
  ['a run waits as long as the call says', { ...optionsOf(60_000), quietMs: 7 }, 7],
  ['a long run waits two minutes', optionsOf(1_790_000), 120_000],
  ['a short run waits a quarter of its time', optionsOf(8_000), 2_000],
])('%s', async (_, options, quietMs) => {
  let given: number | undefined;
  await vacuumAll(
    storeOf(1, async (_name, how) => {
      given = how.quietMs;
      return REPORT;
    }),
    options,
  );
  expect(given).toBe(quietMs);
});

test('a run begins no table without twice the quiet time left, and says so', async () => {
  const run = await vacuumAll(storeOf(3, expect.unreachable), { ...optionsOf(1_000), quietMs: 600 });
  expect(run).toMatchObject({ tables: 3, unreached: 3, removed: 0, failed: [] });
  expect(JSON.parse(runLine(run))).toMatchObject({
    severity: 'WARNING',
    message: expect.stringContaining('3 not reached'),
  });
});

test('a run begins no table after its end', async () => {
  const ended = new AbortController();
  const store = storeOf(20, async () => {
    ended.abort();
    return REPORT;
  });
  const run = await vacuumAll(store, { ...optionsOf(60_000), signal: ended.signal });
  expect(run).toMatchObject({ tables: 20, removed: 1, unreached: 19 });
});

test('runs do not always begin at the same table', async () => {
  const first = new Set<string>();
  for (let run = 0; run < 200; run += 1) {
    const seen: string[] = [];
    const store = storeOf(3, async (name) => {
      seen.push(name);
      return REPORT;
    });
    await vacuumAll(store, optionsOf(60_000));
    first.add(seen[0]!);
  }
  expect(first.size).toBe(3);
});
