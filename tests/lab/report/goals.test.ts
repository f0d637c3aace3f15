import { expect, test } from 'vitest';
import { comparisonsOf, goalsOf } from '../../../shared/lab/report/comparisons.ts';
import { reportText } from '../../../shared/lab/report/report-text.ts';
import { sampleCell, sampleReport } from './sample-report.ts';

const cells = (['record', 'container'] as const).map((layout) =>
  sampleCell({ workload: 'ycsb-c', layout, callers: 32 }, { repetitions: 6 }),
);

test('a comparison meets or misses the goals of its workload and load', () => {
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

test('the terminal shows each goal, and how many are met', () => {
  const goals = goalsOf(comparisonsOf(cells, false));
  expect(reportText(sampleReport({ cells, change: { goals } }))).toMatch(
    /1 of 2 goals are met\n +met +Datastore .*\n +missed +Datastore/,
  );
});

test.each([{ callers: 7 }, { instances: 2 }])('a comparison under another load is judged by no goal: %j', (load) => {
  const others = cells.map((cell) => ({ ...cell, ...load }));
  expect(goalsOf(comparisonsOf(others, false))).toEqual([]);
});
