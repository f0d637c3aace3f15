// A decision can be read in a minute. A number that another file names exists in DECISIONS.md.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const text = readFileSync(path.join(ROOT, 'shared/DECISIONS.md'), 'utf8');
const decisions = text.split(/^## /m).slice(1);
const numbers = decisions.map((decision) => Number.parseInt(decision, 10));

/** Numbers behind `DECISIONS`, as in `DECISIONS.md, 8 and 47`; in that file those in brackets. */
function named(source: string): number[] {
  const places = [...source.matchAll(/DECISIONS[^\d\n]{0,20}(\d+)(?: and (\d+))?/g)];
  return places.flatMap(([, ...found]) => found.filter((one) => one !== undefined).map(Number));
}

test('numbers rise, so that a new decision takes one that was never used', () => {
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
});

test('a decision takes ten lines', () => {
  expect(decisions.filter((decision) => decision.trim().split('\n').length > 12)).toEqual([]);
});

test('whatever is named is there', () => {
  const files = globSync(['{functions,infra,shared,.github}/**/*.{ts,md,tf}', 'README.md'], { cwd: ROOT });
  const elsewhere = files.flatMap((file) => named(readFileSync(path.join(ROOT, file), 'utf8')));
  const within = [...text.matchAll(/\((\d+)\)/g)].map(([, number]) => Number(number));
  expect(elsewhere.length * within.length).toBeGreaterThan(0);
  expect([...elsewhere, ...within].filter((number) => !numbers.includes(number))).toEqual([]);
});
