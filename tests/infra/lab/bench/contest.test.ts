// Contests: rounds alternate, medians count, processor time goes to whoever spent it, and work that fails is no result.
import { expect, inject, onTestFinished, test } from 'vitest';
import { runContest, type Side } from '../../../../infra/lab/bench/contest/contest.ts';
import { type Contest, CONTESTS } from '../../../../infra/lab/bench/contest/goals.ts';
import {
  datastoreKindEntryBytes,
  plainBytes,
  unindexedBytes,
} from '../../../../infra/lab/bench/contest/stored-bytes.ts';
import { takeTurn } from '../../../../infra/lab/bench/contest/turn.ts';
import { startSide } from '../../../../infra/lab/bench/side-process.ts';
import { coldStartsText, contestsText, storedText } from '../../../../infra/lab/bench/text.ts';
import { afterMs } from '../../../../shared/lab/load/closed-loop.ts';
import type { Clocks } from '../../../../shared/lab/load/spent.ts';

const CONTEST: Contest = {
  name: 'put',
  inFlight: 1,
  isFar: false,
  rate: { datastore: 3, 'azure-tables': 1 },
  processor: { datastore: 0.5, 'azure-tables': 1 },
};
const ROUNDS = { count: 5, turnMs: 100 };

/** A side whose turns handle so many records in so many milliseconds, and cost so many microseconds of processor time. */
function side(log: string[], name: string, ...turns: readonly (readonly number[])[]): Side {
  let taken = 0;
  return {
    turn: async () => {
      log.push(name);
      const [records, wallMs, processorUs] = turns[taken++ % turns.length]!;
      return { records: records!, wallMs: wallMs!, processorUs: processorUs! };
    },
  };
}

/** Ours against one record in 400 ms that costs 600 µs. */
function contest(ours: readonly number[], log: string[] = [], theirs: Side = side(log, 'theirs', [1, 400, 600])) {
  return runContest(CONTEST, 'datastore', { ours: side(log, 'ours', ours), theirs }, ROUNDS);
}

test('the rate is compared by the second, the processor time by the record', async () => {
  const { rate, processor } = await contest([10, 20, 1_200]);
  expect(rate).toEqual({ ours: 500, theirs: 2.5, ratio: 200, low: 200, high: 200, goal: 3 });
  expect(processor).toEqual({ ours: 120, theirs: 600, ratio: 0.2, low: 0.2, high: 0.2, goal: 0.5 });
});

test('the medians count, and the spread is that of rounds', async () => {
  const turns = [100, 9, 2, 5, 4, 3].map((records) => [records, 1_000, 1]);
  const sides = { ours: side([], 'ours', ...turns), theirs: side([], 'theirs', [2, 1_000, 1]) };
  const { rate } = await runContest(CONTEST, 'datastore', sides, ROUNDS);
  expect(rate).toMatchObject({ ours: 4, theirs: 2, ratio: 2, low: 1, high: 4.5 });
});

test('after a turn of each to warm up, the sides go first in turn', async () => {
  const log: string[] = [];
  await contest([1, 10, 10], log);
  expect(log.join(' ')).toBe('theirs ours ours theirs theirs ours ours theirs theirs ours ours theirs');
});

test('a side that fails ends the contest: there is no result of half the work', async () => {
  const failing = { turn: () => Promise.reject(new Error('no')) };
  await expect(contest([1, 10, 10], [], failing)).rejects.toThrow('no');
});

/** Clocks that move when the work does. */
function clocks(): Clocks & { pass(ms: number, us: number): void } {
  let nowMs = 1_000;
  let spentUs = 5_000;
  return {
    monotonicMs: () => nowMs,
    processorUs: () => spentUs,
    pass: (ms, us) => {
      nowMs += ms;
      spentUs += us;
    },
  };
}

test('a call that outlasts its turn counts with its time', async () => {
  const at = clocks();
  const work = async (): Promise<number> => {
    at.pass(400, 700);
    return 3;
  };
  const turn = await takeTurn(work, 1, afterMs(500, at), at);
  expect(turn).toEqual({ records: 6, wallMs: 800, processorUs: 1_400 });
});

test('the records of all callers count', async () => {
  const at = clocks();
  const work = async (): Promise<number> => {
    await new Promise(setImmediate);
    at.pass(1, 1);
    return 2;
  };
  expect((await takeTurn(work, 7, afterMs(1, at), at)).records).toBe(14);
});

test('the tables mark what falls short of its goal: rates at least, processor time at most', async () => {
  const good = await contest([40, 10, 600]);
  const bad = await contest([1, 400, 600]);
  const [, first, second] = contestsText('rate', [good, bad]).split('\n');
  expect(first).toMatch(/1,600 x {2}1,600 x +3$/);
  expect(second).toMatch(/ 1\.0 x +1\.0 x +3 {2}SHORT$/);
  const [, frugal, costly] = contestsText('processor', [good, bad]).split('\n');
  expect(frugal).toMatch(/600 +15\.0 {2}0\.025 x {2}0\.025 x +0\.5$/);
  expect(costly).toMatch(/ 1\.0 x +1\.0 x +0\.5 {2}SHORT$/);
});

test('stored bytes are told with and without index entries where there are any', () => {
  const text = storedText([
    { provider: 'datastore', ours: 100, theirs: 500, theirsUnindexed: 200 },
    { provider: 'azure-tables', ours: 100, theirs: 130, theirsUnindexed: 130 },
  ]);
  const [, indexed, unindexed, azure, ...rest] = text.split('\n');
  expect(indexed).toMatch(/^ +Datastore, fields indexed as by default +500 +100 +5\.0 x +1\.4$/);
  expect(unindexed).toMatch(/^ +Datastore, no field indexed +200 +100 +2\.0 x$/);
  expect(azure).toMatch(/^ +Azure +130 +100 +1\.3 x +1\.4 +SHORT$/);
  expect(rest).toEqual([]);
});

test('a cold start is compared with that of an empty function', () => {
  const [, line] = coldStartsText([{ cloud: 'gcp', bundleBytes: 2_048, ownMs: 1_000, emptyMs: 600 }]).split('\n');
  expect(line).toMatch(/^ +gcp +2 KiB +600 +1,000 +400 +300 +SHORT$/);
});

test('every kind of work has goals above zero for both providers', () => {
  for (const { rate, processor, isFar } of CONTESTS) {
    for (const ratio of Object.values(rate)) expect(ratio).toBeGreaterThan(0);
    expect(processor === undefined).toBe(isFar);
    for (const ratio of Object.values({ ...processor })) expect(ratio).toBeGreaterThan(0);
  }
});

test.each(['ours', 'theirs'] as const)('%s works in a process of its own', async (which) => {
  const setup = {
    provider: 'datastore',
    endpoint: inject('embeddedEndpoint'),
    dataset: `side${which}`,
    warmUpOperations: 3,
  } as const;
  const { signal } = new AbortController();
  const started = await startSide({ side: which, ...setup }, signal);
  onTestFinished(() => started.close());
  // A bulk put and a scan take longer than the turn: each is made once by each caller.
  const size = { inFlight: 1, turnMs: 1 };
  for (const [name, records] of [
    ['put', 1],
    ['get', 1],
    ['get, leaf not cached', 1],
    ['getMany of 500', 500],
    ['scan', 10_000],
    ['bulk put', 10_000],
  ] as const) {
    const turn = await started.turn(name, size);
    expect(turn.records).toBeGreaterThan(0);
    expect(turn.records % records).toBe(0);
    expect(turn.processorUs).toBeGreaterThan(0);
  }
});

test('a side that cannot work says why, and one that has ended takes no turn', async () => {
  const setup = {
    side: 'ours',
    provider: 'datastore',
    endpoint: inject('embeddedEndpoint'),
    dataset: 'empty',
    warmUpOperations: 0,
  } as const;
  const started = await startSide(setup, new AbortController().signal);
  onTestFinished(() => started.close());
  await expect(started.turn('get', { inFlight: 1, turnMs: 1 })).rejects.toThrow('absent: ');
  await started.close();
  await expect(started.turn('put', { inFlight: 1, turnMs: 1 })).rejects.toThrow('the process of ours on datastore');
});

const RECORD = {
  key: 't01:customer:1',
  fields: { name: 'Ann', address: 'A', email: 'e', since: '2020', notes: 'long' },
};

test('a plain entity on Azure takes what its formula says', () => {
  // 4, the keys without the colon between them, and for each property 8, its name, 4 and its characters, two bytes each.
  const properties = 8 + 8 + 4 + 6 + (8 + 14 + 4 + 2) + (8 + 10 + 4 + 2) + (8 + 10 + 4 + 8) + (8 + 10 + 4 + 8);
  expect(plainBytes('azure-tables', 'k', RECORD)).toBe(4 + 2 * 13 + properties);
  expect(unindexedBytes('azure-tables', 'k', RECORD)).toBe(4 + 2 * 13 + properties);
});

test('a plain entity on Datastore takes what its formula says, with index entries and without', () => {
  const key = 2 + 15 + 16;
  const sizes = [5 + 4, 8 + 2, 6 + 2, 6 + 5];
  const entries = sizes.reduce((sum, property) => sum + 2 * (key + property + 2 + 32), 0);
  const entity = key + 32 + sizes.reduce((sum, size) => sum + size, 0) + (6 + 5);
  expect(datastoreKindEntryBytes('k', RECORD.key)).toBe(2 + 2 + 15 + 16 + 32);
  const unindexed = entity + datastoreKindEntryBytes('k', RECORD.key);
  expect(unindexedBytes('datastore', 'k', RECORD)).toBe(unindexed);
  expect(plainBytes('datastore', 'k', RECORD)).toBe(unindexed + entries);
});
