// The rules of merging hold in all histories of small configurations, in many random ones, and in
// the scripts. Without any one rule they do not.
import { expect, test } from 'vitest';
import { exhaust } from './exhaust.ts';
import { MUTANTS } from './mutants.ts';
import { play, SCRIPTS } from './scripts.ts';
import { SMALL } from './small.ts';
import { firstFinding } from './walk.ts';
import { beginning, take } from './world.ts';

const WALKS = 2_000;
/** Enough walks to catch every mutant that walks are to catch. */
const WALKS_PER_MUTANT = { from: 1, count: 500 };

test.each(SMALL)('every history of: $name', { timeout: 120_000 }, (small) => {
  const { finding, places } = exhaust(small);
  expect(finding).toBeUndefined();
  expect(places).toBeGreaterThan(50);
});

test(`${WALKS} random walks`, { timeout: 300_000 }, () => {
  expect(firstFinding({ from: 1, count: WALKS })).toBeUndefined();
});

test.each(SCRIPTS)('$name', (script) => {
  expect(play(script)).toBeUndefined();
});

test('a leaf that is missing behind a retired one is damage, and told within a few requests', () => {
  const world = beginning({ lows: [0, 1, 2, 3], end: 4, processes: [{}] });
  const { A, B, C } = world.leaves;
  const leaves = { A: A!, B: { ...B!, state: 'retired' }, C: { ...C!, state: 'retired' } } as const;
  const operation = { kind: 'get', key: 3 } as const;
  let at = take({ ...world, leaves }, { kind: 'begin', process: 0, operation });
  let requests = 0;
  for (; at.ended === undefined; requests += 1) at = take(at.world, { kind: 'answer', process: 0, how: 'truly' });
  expect(at.ended.result.kind).toBe('corrupt');
  expect(requests).toBeLessThan(12);
});

test.each(MUTANTS)('the mutant $name is caught (rule $rule)', { timeout: 60_000 }, ({ name, caughtBy }) => {
  const script = SCRIPTS.find((script) => caughtBy !== 'walks' && script.name === caughtBy.script);
  const caught = script === undefined ? firstFinding({ ...WALKS_PER_MUTANT, breach: name }) : play(script, name);
  expect(caught).toBeDefined();
});

test('a walk is the same again from the same seed', () => {
  const first = firstFinding({ from: 1, count: 100, breach: 'absorbs-on-any-version' });
  expect(first).toBeDefined();
  expect(firstFinding({ from: first!.seed, count: 1, breach: 'absorbs-on-any-version' })).toEqual(first);
});
