// Whole cells: laws that hold for any figures.
import { describe, expect, test } from 'vitest';
import type { ModelCell } from '../../../../shared/lab/cloud/run/cell.ts';
import type { PlanInput, RowInput } from '../../../../shared/lab/plan/modelled/plan.ts';
import { runCell } from '../../../../shared/lab/cloud/run/run-cell.ts';
import { expectWithin } from '../../expect-within.ts';
import { plannedRows } from '../../planned-rows.ts';

function cellsOf(rows: RowInput[], window: PlanInput['window'] = {}): ModelCell[] {
  return plannedRows({ name: 'test', window, groups: [{ title: 'test', rows }] }, 7).flatMap(({ cells }) => cells);
}

const ROWS: RowInput[] = [
  { workload: 'read', records: 2_000, callers: 8 },
  { workload: 'put', records: 2_000, instances: 4, callers: 2 },
  { workload: 'ycsb-a', records: 2_000, callers: 16 },
  { workload: 'modify', keys: 'one', records: 2_000, instances: 4, windowMs: 30_000 },
  { workload: 'load', records: 2_000, callers: 2, operationsMax: 20, warmupOperationsMax: 5 },
  { workload: 'put', records: 1_000_000, callers: 4, operationsMax: 100, warmupOperationsMax: 50 },
  { workload: 'read', records: 2_000, callers: 30, following: { concurrency: 8, startMs: 300, instancesMax: 16 } },
];

describe("Little's law holds in every cell: callers = throughput x time, within 2 %", () => {
  const cells = cellsOf(ROWS, { warmupOperationsMax: 300, operationsMax: 600 });
  test.each(cells)('$provider $layout $case', async (cell) => {
    // Single entities are cheap to run, and more operations give a better mean.
    const operationsMax = cell.window.operationsMax * (cell.layout === 'container' ? 1 : 5);
    const result = await runCell({ ...cell, window: { ...cell.window, operationsMax } });
    const { callers } = cell.load as { callers: number };
    expect(result.operations).toBeGreaterThan(0);
    expectWithin(result.underWay, callers, 0.02);
    // The mean time of calls answered inside the window is R too, if few cross its ends.
    const isEven = cell.keys === 'uniform' && cell.layout !== 'container' && cell.workload !== 'load';
    if (isEven) expectWithin((result.operationsPerSecond * result.meanMs) / 1_000, callers, 0.02);
  });
});

test('an open loop answers as many as arrive, while they are not too many', async () => {
  const arrivals = { perSecond: 200, spacing: 'equidistant' } as const;
  const [record] = cellsOf([{ workload: 'put', layouts: ['record'], arrivals }]);
  const { operationsPerSecond, underWay, meanMs, parameters } = await runCell(record!);
  expect(parameters).toContain('commit.baseMs');
  expect(operationsPerSecond / 200).toBeCloseTo(1, 1);
  expect(underWay / ((operationsPerSecond * meanMs) / 1_000)).toBeCloseTo(1, 1);
});

test('the same cell has the same result, to the last digit, and another seed another', async () => {
  const row: RowInput = { workload: 'put', records: 500, instances: 2, callers: 2, layouts: ['record', 'container'] };
  const cells = cellsOf([row], { warmupOperationsMax: 40, operationsMax: 80 });
  for (const cell of cells) {
    const first = JSON.stringify(await runCell(cell));
    expect(JSON.stringify(await runCell(cell))).toBe(first);
    expect(JSON.stringify((await runCell({ ...cell, seed: 8 })).histogram)).not.toBe(first);
  }
});

test('every instance comes up cold: its first get reads what its later gets need not read', async () => {
  const row: RowInput = { workload: 'read', records: 1_000, layouts: ['container'], providers: ['datastore'] };
  // Nothing is warmed up: 40 gets of one instance against one get of each of 40.
  const window = { warmupMs: 1, warmupOperationsMax: 1_000, windowMs: 60_000, operationsMax: 40 };
  const [one] = cellsOf([row], window);
  const [many] = cellsOf([{ ...row, instances: 40 }], window);
  const warm = await runCell(one!);
  const cold = await runCell({ ...many!, window: { ...many!.window, operationsMax: 40 } });
  // Some of the 40 begin before the window, and some get twice before the slowest has its reply.
  expect(warm.requestsPerOperation).toBeLessThan(1.05);
  expect(cold.requestsPerOperation).toBeGreaterThan(1.25);
});

test('a fleet that follows its load has started what its callers need', async () => {
  const [cell] = cellsOf([{ ...ROWS[6]!, layouts: ['record'], providers: ['datastore'] }]);
  const { instances } = await runCell(cell!);
  expect(instances).toBe(4);
});

test('a slower processor is a slower layout, and none at all is none', async () => {
  const row: RowInput = { workload: 'read', layouts: ['record'], providers: ['datastore'], callers: 128 };
  const [cell] = cellsOf([row]);
  const withOne = await runCell(cell!);
  const without = await runCell({ ...cell!, hasProcessor: false });
  expect(without.processorBusiest).toBe(0);
  expect(withOne.processorBusiest).toBeGreaterThan(0.5);
  expect(without.operationsPerSecond).toBeGreaterThan(1.2 * withOne.operationsPerSecond);
});
