import { describe, expect, test } from 'vitest';
import { DEFAULT_PLAN } from '../../../../shared/lab/plan/modelled/plan-default.ts';
import { GOALS_PLAN } from '../../../../shared/lab/plan/modelled/plan-goals.ts';
import { planOf } from '../../../../shared/lab/plan/modelled/plan.ts';
import { plannedRows } from '../../planned-rows.ts';

const fileOf = (...rows: object[]): string => JSON.stringify({ name: 'x', groups: [{ title: 'one', rows }] });

describe('a plan file', () => {
  const arrivals = { perSecond: 1, spacing: 'equidistant' };
  const goals = [{ figure: 'p50', against: { layout: 'record', row: 'y' }, atMost: 1 }];

  test.each<[string, string, RegExp]>([
    ['no JSON', '{', /a plan is JSON/],
    ['no groups', '{"name":"x","groups":[]}', /groups/],
    ['an unknown field', '{"name":"x","groups":[{"title":"one","rows":[{"workload":"put"}],"callers":3}]}', /callers/],
    ['an unknown workload', fileOf({ workload: 'write' }), /workload/],
    ['no callers', fileOf({ workload: 'put', callers: 0 }), /callers/],
    ['callers and arrivals', fileOf({ workload: 'put', callers: 2, arrivals }), /callers or arrivals/],
    ['a goal against a row that is not there', fileOf({ workload: 'put', goals }), /no row has the id y/],
  ])('with %s is refused', (_, text, message) => {
    expect(() => planOf(text)).toThrow(message);
  });

  test('becomes cells: every layout of every row at every provider, callers by instance', () => {
    const rows = plannedRows(planOf(fileOf({ workload: 'put', instances: 3, callers: 4 })), 5);
    expect(rows.map(({ provider, cells }) => [provider, cells.map(({ layout }) => layout)])).toEqual([
      ['datastore', ['record', 'conditional', 'container']],
      ['azure-tables', ['record', 'conditional', 'container']],
    ]);
    expect(rows[0]!.cells[0]).toMatchObject({ load: { callers: 12 }, fleet: { kind: 'fixed', instances: 3 }, seed: 5 });
  });

  test('of many callers lets each of them have two operations that count', () => {
    const [row] = plannedRows(planOf(fileOf({ workload: 'put', callers: 5_000 })));
    expect(row!.cells[0]!.window.operationsMax).toBe(10_000);
  });
});

test.each([DEFAULT_PLAN, GOALS_PLAN])('the built-in plan $name is a plan', (plan) => {
  expect(plannedRows(planOf(JSON.stringify(plan)))).not.toHaveLength(0);
});
