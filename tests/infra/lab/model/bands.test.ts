// The headline figures of the model: their plan, their table, and README's copy of it.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BANDS, bandsTable, README, withBands } from '../../../../infra/lab/model/bands.ts';
import type { ModelResult } from '../../../../shared/lab/cloud/run/cell.ts';
import { BANDS_PLAN } from '../../../../shared/lab/plan/modelled/plan-bands.ts';
import type { PlayedRow } from '../../../../shared/lab/report/modelled/goals.ts';
import { plannedRows } from '../../../lab/planned-rows.ts';

const rows = plannedRows(BANDS_PLAN);

test('each guess moves one thing, and each cloud has those that it knows', () => {
  const moved = rows.map(({ provider, group, cells: [cell] }) => {
    const { settings, recordBytes, seed } = cell!;
    const ends = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    const changes = [...ends, recordBytes === 500 ? [] : `${recordBytes} B`, seed === 1 ? [] : `seed ${seed}`].flat();
    expect(changes.length).toBeLessThanOrEqual(1);
    return `${provider} ${group}: ${changes.join()}`;
  });
  expect(new Set(moved)).toContain('datastore 1 write a second: contention.writesPerSecond=1');
  expect(new Set(moved)).toContain('datastore commit as quick as get: commit.baseMs=8');
  expect(new Set(moved)).not.toContain('azure-tables 1 write a second: contention.writesPerSecond=1');
  expect(new Set(moved).size).toBe(5 + 2 + 1 + 3 + (5 + 1 + 3));
});

/** Containers are as quick as it says, plain entities reach 100 a second, conditional ones 50. */
function played(rateOf: (row: PlayedRow['row']) => number): PlayedRow[] {
  return rows.map((row) => {
    const rates = { record: 100, conditional: 50, batch: 0, container: rateOf(row) };
    const results = row.cells.map((cell) => ({ cell, operationsPerSecond: rates[cell.layout] }) as ModelResult);
    return { row, results };
  });
}

test('a band has the median of the seeds, and its ends the guesses that give them', () => {
  const rates: Readonly<Record<string, number>> = { 'seed 1': 40, 'seed 2': 60, '1 write a second': 5 };
  const table = bandsTable(played(({ group }) => rates[group] ?? 50));
  const figure = 'puts, 64 instances of 4 callers';
  expect(table).toContain(`| Datastore | ${figure} | plain | 0.50 x | 0.05 x (1 write a second) | 0.60 x (seed 2) |`);
  expect(table).toContain(`| Azure | ${figure} | conditional | 1.0 x | 0.80 x (seed 1) | 1.2 x (seed 2) |`);
  expect(table.trim().split('\n')).toHaveLength(2 + 3 * 2 * 2);
});

test('README has a place for the table', () => {
  const readme = readFileSync(README, 'utf8');
  const before = '<!-- model: begin -->';
  expect(withBands(readme, '| new |\n')).toContain(`${before}\n\n| new |\n\n<!-- model: end -->`);
  expect(() => withBands('nothing', '')).toThrow('README has no');
});

test("README's figures of the model are those that the command kept", () => {
  const readme = readFileSync(README, 'utf8');
  expect(withBands(readme, readFileSync(BANDS, 'utf8'))).toBe(readme);
});
