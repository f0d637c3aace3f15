import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planOf, planSchema, PLANS } from '../../../shared/lab/plan/plan.ts';

test('a plan has a default for every field', () => {
  const defaults = { name: 'custom', callers: [1, 4, 16, 64], ratesPerSecond: [], repetitions: 6 };
  expect(planSchema.parse({})).toMatchObject(defaults);
});

test('a plan is read from a file as it was written into a report', () => {
  for (const plan of Object.values(PLANS)) expect(planOf(JSON.stringify(plan))).toEqual(plan);
});

test.each([
  ['{', /a plan is JSON/],
  ['{"workloads":["ycsb-z"]}', /workloads/],
  ['{"callers":[]}', /a plan needs callers, ratesPerSecond or a search/],
  ['{"callers":[8,8]}', /nothing may stand twice/],
  ['{"warmup":{"leastMs":2000,"mostMs":1000}}', /warmup\.leastMs is above/],
  ['{"recordBytes":[10]}', /recordBytes\[0\]/],
  ['{"containerKib":[8]}', /a container has 16 to 703 KiB.*\n.*containerKib\[0\]/],
  ['{"containerKib":[704]}', /a container has 16 to 703 KiB/],
  ['{"color":"red"}', /color/],
  ['{"search":{"percentile":98,"latencyMsMax":5}}', /search\.percentile/],
])('%s is no plan', (text, why) => {
  expect(() => planOf(text)).toThrow(TypeError);
  expect(() => planOf(text)).toThrow(why);
});

test('the plan in the README is one', () => {
  const readme = readFileSync(new URL('../../../shared/lab/README.md', import.meta.url), 'utf8');
  const [, plan] = /```json\n([^]*?)```/.exec(readme)!;
  expect(planOf(plan!)).toMatchObject({ name: 'evening', search: { triesMax: 12 } });
});
