// Contests: rounds alternate, medians count, and work that fails is no result.
import { expect, test } from 'vitest';
import { type Match, runContest } from '../../../infra/bench/contest/contest.ts';
import { GOALS } from '../../../infra/bench/contest/goals.ts';
import { datastoreKindEntryBytes, plainBytes } from '../../../infra/bench/contest/stored-bytes.ts';
import { contestsText } from '../../../infra/bench/contest/text.ts';
import { median } from '../../../shared/compare/plan/median.ts';

/** Work on a clock that it moves itself: the records it handles a call, and how long a call takes. */
function contest(clock: { nowMs: number }, log: string[], ours: [number, number], theirs: [number, number]): Match {
  const work =
    (name: string, [records, tookMs]: [number, number]) =>
    async (): Promise<number> => {
      if (log.at(-1) !== name) log.push(name);
      clock.nowMs += tookMs;
      return records;
    };
  const what = { name: 'put', provider: 'datastore', inFlight: 1, rttMs: 0, goal: 3 } as const;
  return { ...what, ours: work('ours', ours), theirs: work('theirs', theirs) };
}

function rounds(clock: { nowMs: number }, signal = new AbortController().signal) {
  return { count: 5, turnMs: 100, signal, monotonicMs: () => clock.nowMs };
}

test('the ratio is that of the rates, and a call that outlasts its turn counts with its time', async () => {
  const clock = { nowMs: 0 };
  const result = await runContest(contest(clock, [], [10, 20], [1, 400]), rounds(clock));
  expect(result).toMatchObject({ ours: 500, theirs: 2.5, ratio: 200, spread: [200, 200], unit: 'records/s' });
});

test('after a turn of each to warm up, the sides go first in turn', async () => {
  const clock = { nowMs: 0 };
  const log: string[] = [];
  await runContest(contest(clock, log, [1, 10], [1, 10]), rounds(clock));
  expect(log.join(' ')).toBe('theirs ours theirs ours theirs ours theirs');
});

test('work that fails ends the contest: there is no result of half the work', async () => {
  const clock = { nowMs: 0 };
  const failing = { ...contest(clock, [], [1, 10], [1, 10]), ours: () => Promise.reject(new Error('no')) };
  await expect(runContest(failing, rounds(clock))).rejects.toThrow('no');
});

test('an aborted contest ends', async () => {
  const clock = { nowMs: 0 };
  const running = runContest(contest(clock, [], [1, 10], [1, 10]), rounds(clock, AbortSignal.abort(new Error('stop'))));
  await expect(running).rejects.toThrow('stop');
});

test('medians', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('the table marks what falls short of its goal', async () => {
  const clock = { nowMs: 0 };
  const good = await runContest(contest(clock, [], [40, 10], [10, 10]), rounds(clock));
  const short = await runContest(contest(clock, [], [20, 10], [10, 10]), rounds(clock));
  const [, first, second] = contestsText([good, short]).split('\n');
  expect(first).toMatch(/4\.00 {2}4\.00 to 4\.00 +3$/);
  expect(second).toMatch(/2\.00 {2}2\.00 to 2\.00 +3 {2}SHORT$/);
});

test('every kind of work has a goal above zero for both providers', () => {
  for (const { ratios } of GOALS) for (const ratio of Object.values(ratios)) expect(ratio).toBeGreaterThan(0);
});

const RECORD = {
  key: 't01:customer:1',
  fields: { name: 'Ann', address: 'A', email: 'e', since: '2020', notes: 'long' },
};

test('a plain entity on Azure takes what its formula says', () => {
  // 4, the keys without the colon between them, and for each property 8, its name, 4 and its characters, two bytes each.
  const properties = 8 + 8 + 4 + 6 + (8 + 14 + 4 + 2) + (8 + 10 + 4 + 2) + (8 + 10 + 4 + 8) + (8 + 10 + 4 + 8);
  expect(plainBytes('azure-tables', 'k', RECORD)).toBe(4 + 2 * 13 + properties);
});

test('a plain entity on Datastore takes what its formula says, index entries included', () => {
  const key = 2 + 15 + 16;
  const sizes = [5 + 4, 8 + 2, 6 + 2, 6 + 5];
  const entries = sizes.reduce((sum, property) => sum + 2 * (key + property + 2 + 32), 0);
  const entity = key + 32 + sizes.reduce((sum, size) => sum + size, 0) + (6 + 5);
  expect(datastoreKindEntryBytes('k', RECORD.key)).toBe(2 + 2 + 15 + 16 + 32);
  expect(plainBytes('datastore', 'k', RECORD)).toBe(entity + entries + datastoreKindEntryBytes('k', RECORD.key));
});
