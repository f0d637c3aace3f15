// The guard's text, and how it reports figures that moved. .ci/run plays the model against
// infra/lab/model/guard.tsv.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ModelResult } from '../../../../shared/lab/cloud/run/cell.ts';
import { guardChanges, guardText } from '../../../../infra/lab/model/guard.ts';
import { GUARD_PLAN } from '../../../../shared/lab/plan/modelled/plan-guard.ts';
import { plannedRows } from '../../../lab/planned-rows.ts';

const ROWS = plannedRows(GUARD_PLAN);
const CELLS = ROWS[0]!.cells;

/** The part of a result that the guard keeps. */
function resultOf(place: 0 | 1, changes: Partial<ModelResult> = {}): ModelResult {
  return {
    cell: CELLS[place]!,
    operationsPerSecond: 1 / 3,
    meanMs: 12.5,
    p50Ms: null,
    steps: 1_000,
    errors: { throttled: 2 },
    warmupErrors: 1,
    unfinished: 0,
    ...changes,
  } as ModelResult;
}

const BEFORE = guardText([resultOf(0), resultOf(1)], 'made by hand');

describe('the guard', () => {
  test('finds nothing in figures that are the same to the last digit', () => {
    expect(guardChanges(BEFORE, guardText([resultOf(0), resultOf(1)], 'made by hand'))).toBe('');
    expect(guardChanges(BEFORE, guardText([resultOf(0), resultOf(1)], 'made elsewhere'))).toBe('');
  });

  test('shows the row that moved, before and after, in the columns that moved', () => {
    const moved = resultOf(1, { operationsPerSecond: 1 / 3 + 2 ** -54, steps: 1_001 });
    expect(guardChanges(BEFORE, guardText([resultOf(0), moved], 'made elsewhere'))).toBe(
      [
        'datastore container 1 x 32 read',
        '                         op/s  events',
        '  before   0.3333333333333333    1000',
        '  after   0.33333333333333337    1001',
        'kept: made by hand',
        'now:  made elsewhere',
      ].join('\n'),
    );
  });

  test('shows rows that came and rows that went', () => {
    const came = guardChanges(guardText([resultOf(0)], 'x'), guardText([resultOf(0), resultOf(1)], 'x'));
    expect(came).toMatch(/^datastore container 1 x 32 read\n.*\n {2}before +-.*\n {2}after +0\.333/);
    const went = guardChanges(BEFORE, guardText([resultOf(1)], 'x'));
    expect(went).toMatch(/^datastore record 1 x 32 read\n.*\n {2}before +0\.333.*\n {2}after +-/);
  });

  test('keeps a row for every cell of its plan', () => {
    const kept = readFileSync(new URL('../../../../infra/lab/model/guard.tsv', import.meta.url), 'utf8');
    const rows = kept.split('\n').slice(2, -1);
    const names = rows.map((row) => row.split('\t').slice(0, 3).join(' '));
    const cells = ROWS.flatMap((row) => row.cells);
    expect(names).toEqual(cells.map(({ provider, layout, case: name }) => `${provider} ${layout} ${name}`));
    expect(new Set(names).size).toBe(names.length);
  });
});
