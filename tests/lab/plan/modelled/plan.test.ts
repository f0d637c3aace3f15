import { describe, expect, test } from 'vitest';
import { DEFAULT_PLAN } from '../../../../shared/lab/plan/modelled/plan-default.ts';
import { GOALS_PLAN } from '../../../../shared/lab/plan/modelled/plan-goals.ts';
import { planOf, planSchema, rowsOf } from '../../../../shared/lab/plan/modelled/plan.ts';

const GROUP = { title: 'one', rows: [{ workload: 'put', callers: 4 }] };
const NONE = { datastore: {}, 'azure-tables': {} };

describe('a plan file', () => {
  test.each<[string, string, RegExp]>([
    ['no JSON', '{', /a plan is JSON/],
    ['no groups', '{"name":"x","groups":[]}', /groups/],
    ['an unknown field', JSON.stringify({ name: 'x', groups: [{ ...GROUP, callers: 3 }] }), /callers/],
    [
      'an unknown workload',
      JSON.stringify({ name: 'x', groups: [{ ...GROUP, rows: [{ workload: 'write' }] }] }),
      /workload/,
    ],
    [
      'no callers',
      JSON.stringify({ name: 'x', groups: [{ ...GROUP, rows: [{ workload: 'put', callers: 0 }] }] }),
      /callers/,
    ],
    [
      'callers and arrivals',
      JSON.stringify({
        name: 'x',
        groups: [
          { ...GROUP, rows: [{ workload: 'put', callers: 2, arrivals: { perSecond: 1, spacing: 'equidistant' } }] },
        ],
      }),
      /callers or arrivals/,
    ],
    [
      'a goal against a row that is not there',
      JSON.stringify({
        name: 'x',
        groups: [
          {
            ...GROUP,
            rows: [{ workload: 'put', goals: [{ figure: 'p50', against: { layout: 'record', row: 'y' }, atMost: 1 }] }],
          },
        ],
      }),
      /no row has the id y/,
    ],
  ])('with %s is refused', (_, text, message) => {
    expect(() => planOf(text)).toThrow(message);
  });

  test('becomes cells: every layout of every row at every provider, callers by instance', () => {
    const text = JSON.stringify({
      name: 'x',
      groups: [{ title: 'one', rows: [{ workload: 'put', instances: 3, callers: 4 }] }],
    });
    const rows = rowsOf({ plan: planOf(text), seed: 5, settings: NONE, processor: true });
    expect(rows.map(({ provider, cells }) => [provider, cells.map(({ layout }) => layout)])).toEqual([
      ['datastore', ['record', 'conditional', 'container']],
      ['azure-tables', ['record', 'conditional', 'container']],
    ]);
    expect(rows[0]!.cells[0]).toMatchObject({ load: { callers: 12 }, fleet: { kind: 'fixed', instances: 3 }, seed: 5 });
  });

  test('of many callers lets each of them have two operations that count', () => {
    const plan = planSchema.parse({ name: 'x', groups: [{ ...GROUP, rows: [{ workload: 'put', callers: 5_000 }] }] });
    const [row] = rowsOf({ plan, seed: 1, settings: NONE, processor: true });
    expect(row!.cells[0]!.window.operationsMax).toBe(10_000);
  });
});

test.each([DEFAULT_PLAN, GOALS_PLAN])('the built-in plan $name is a plan', (plan) => {
  expect(rowsOf({ plan: planOf(JSON.stringify(plan)), seed: 1, settings: NONE, processor: true })).not.toHaveLength(0);
});
