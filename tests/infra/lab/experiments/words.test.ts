// Figures as words: what findings are made of.
import { expect, test } from 'vitest';
import type { Column, FigureTable } from '../../../../shared/lab/report/chapters/schema.ts';
import { meansText, ratiosOf, ratiosText, verdictOf } from '../../../../infra/lab/experiments/words.ts';

const column = (id: string, where: string): Column => {
  return { id, where, era: 'now', measure: 'time', unit: 'ms', better: 'lower' };
};
const BASE = { one: { runs: [4, 6] }, two: { runs: [2] }, three: { failed: 'no' } } as const;
const ROW = { one: { runs: [10] }, two: { runs: [3] }, three: { runs: [1] } } as const;

const TABLE: FigureTable = {
  id: 'table',
  title: 'A table',
  about: 'One figure is a run.',
  columns: [column('one', 'Azurite'), column('two', 'memory driver'), column('three', 'nowhere')],
  rows: [
    { id: 'base', name: 'base', against: 'base', figures: BASE },
    { id: 'row', name: 'row', against: 'base', figures: ROW },
  ],
};
const ALL = ['one', 'two', 'three'];

test('ratios are of means, in the columns that have both', () => {
  expect(ratiosOf(TABLE, 'row', ALL)).toEqual([2, 1.5]);
  expect(ratiosText(TABLE, 'row', ALL)).toBe('2.0 x (Azurite) and 1.5 x (memory driver)');
  expect(ratiosText(TABLE, 'row', ['two'])).toBe('1.5 x (memory driver)');
  expect(ratiosText(TABLE, 'row', ['three'])).toBe('nothing (not measured in this run)');
});

test('means stand with their places', () => {
  expect(meansText(TABLE, 'base', ALL)).toBe('5 (Azurite) and 2 (memory driver)');
});

const above = (ratio: number): boolean => ratio > 1;

test('a verdict needs figures, and all of them', () => {
  expect(verdictOf([], above)).toBe('open');
  expect(verdictOf([2, 3], above)).toBe('holds');
  expect(verdictOf([2, 0.5], above)).toBe('does not hold');
});
