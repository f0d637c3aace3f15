// A part of a comparison in a process of its own: what the environment says, and the file that it leaves.
import { describe, expect, test } from 'vitest';
import { createCompareApp } from '../../../functions/compare/app.ts';
import { partJobOf, runPartJob } from '../../../functions/compare/part.ts';
import { planPartOf } from '../../../shared/compare/plan/part-file.ts';
import { DEFAULT_PLAN, planSchema } from '../../../shared/compare/plan/plan.ts';
import { fakeResult } from '../../compare/fake-function.ts';

const START = '2026-11-22T12:00:00Z';

describe('the environment of a part', () => {
  test('is Cloud Run’s own index and count of tasks', () => {
    const env = { STOWAGE_START: START, CLOUD_RUN_TASK_INDEX: '1', CLOUD_RUN_TASK_COUNT: '4' };
    expect(partJobOf(env)).toEqual({
      plan: DEFAULT_PLAN,
      part: { index: 1, count: 4 },
      startMs: Date.UTC(2026, 10, 22, 12),
    });
  });

  test('says which part it is where the platform does not, and has a plan as JSON', () => {
    const { plan, part } = partJobOf({ STOWAGE_START: START, STOWAGE_PART: '2/4', STOWAGE_PLAN: '{"callers":[7]}' });
    expect(part).toEqual({ index: 1, count: 4 });
    expect(plan).toEqual(planSchema.parse({ callers: [7] }));
  });

  test.each([
    [{ STOWAGE_PART: '1/1' }, 'STOWAGE_START'],
    [{ STOWAGE_START: 'noon', STOWAGE_PART: '1/1' }, /STOWAGE_START: .*the same for all parts/],
    [{ STOWAGE_START: START }, 'STOWAGE_PART is missing, and no platform says which part this is'],
    [{ STOWAGE_START: START, STOWAGE_PART: '0/4' }, 'there is no part 0 of 4'],
    [{ STOWAGE_START: START, STOWAGE_PART: '5/4' }, 'there is no part 5 of 4'],
    [{ STOWAGE_START: START, STOWAGE_PART: 'two' }, /STOWAGE_PART: .*such as 2\/4/],
    [{ STOWAGE_START: START, STOWAGE_PART: '1/1', STOWAGE_PLAN: 'evening' }, /STOWAGE_PLAN: default, full or JSON/],
  ])('%j is refused', (env, message) => {
    expect(() => partJobOf(env)).toThrow(message);
  });
});

test('a part runs its cells in its own process, and keeps one file', async () => {
  const app = createCompareApp({
    auth: { mode: 'none' },
    timeoutMs: 60_000,
    timeoutMaxMs: 300_000,
    log: () => {},
    page: '',
    prepareDataset: async () => {},
    runCell: async (request) => fakeResult(request, 'datastore'),
    removeDataset: async () => {},
  });
  const plan = planSchema.parse({
    workloads: ['ycsb-c'],
    layouts: ['record'],
    callers: [1],
    repetitions: 1,
    durationMs: 10,
    warmup: { leastMs: 0, mostMs: 0 },
  });
  const kept: [name: string, text: string][] = [];
  const code = await runPartJob({
    job: { plan, part: { index: 1, count: 2 }, startMs: Date.now() + 20 },
    provider: 'datastore',
    app,
    signal: new AbortController().signal,
    keep: async (...file) => void kept.push(file),
  });
  expect(code).toBe(0);
  expect(kept).toHaveLength(1);
  const [[name, text]] = kept as [[string, string]];
  expect(name).toMatch(/^part-.*-datastore-2-of-2\.json$/);
  expect(planPartOf(text)).toMatchObject({ part: { index: 1, count: 2 }, runs: [{ repetition: 1 }], failures: [] });
});
