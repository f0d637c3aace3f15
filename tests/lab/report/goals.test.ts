import { expect, test } from 'vitest';
import { comparisonsOf } from '../../../shared/lab/report/comparisons.ts';
import { goalsOf } from '../../../shared/lab/report/goals.ts';
import { reportText } from '../../../shared/lab/report/text.ts';
import { sampleCell, sampleReport } from './sample-report.ts';

const cells = (['record', 'container'] as const).map((layout) =>
  sampleCell({ workload: 'ycsb-c', layout, callers: 32 }, { repetitions: 6 }),
);

test('are judged by the comparisons that they are of: met, or missed, with the figure', () => {
  expect(goalsOf(comparisonsOf(cells, false))).toEqual([
    {
      text: 'Datastore ycsb-c, 32 callers, container to record: rate 30 x, at least 10 x',
      ratio: expect.closeTo(30, 0) as number,
      goal: 10,
      isMet: true,
    },
    {
      text: 'Datastore ycsb-c, 32 callers, container to record: processor 0.33 x, at most 0.15 x',
      ratio: expect.closeTo(1 / 3, 2) as number,
      goal: 0.15,
      isMet: false,
    },
  ]);
});

test('stand in the terminal, with how many are met', () => {
  const goals = goalsOf(comparisonsOf(cells, false));
  expect(reportText(sampleReport({ cells, change: { goals } }))).toMatch(
    /1 of 2 goals are met\n +met +Datastore .*\n +missed +Datastore/,
  );
});

test('of other loads there are none', () => {
  expect(
    goalsOf(
      comparisonsOf(
        cells.map((cell) => ({ ...cell, callers: 7 })),
        false,
      ),
    ),
  ).toEqual([]);
  expect(
    goalsOf(
      comparisonsOf(
        cells.map((cell) => ({ ...cell, instances: 2 })),
        false,
      ),
    ),
  ).toEqual([]);
});
