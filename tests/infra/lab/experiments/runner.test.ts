// The plan as a whole: what fails or is interrupted stands in the results, and the rest goes on.
import { expect, onTestFinished, test, vi } from 'vitest';
import type { BenchProvider } from '../../../../infra/lab/bench/providers.ts';
import { EXPERIMENTS } from '../../../../infra/lab/experiments/documents/documents.ts';
import type { Experiment, ExperimentContext } from '../../../../infra/lab/experiments/experiment.ts';
import {
  type Chapter,
  EXPERIMENT_IDS,
  type ExperimentId,
  problemsOf,
} from '../../../../infra/lab/experiments/results.ts';
import { runExperiments } from '../../../../infra/lab/experiments/runner.ts';

function experiment(
  id: ExperimentId,
  run: (context: ExperimentContext) => Promise<Chapter>,
  budgetMs = 60_000,
): Experiment {
  return { id, title: id, question: 'Why?', budgetMs, run };
}

function chapter(id: ExperimentId): Chapter {
  return {
    id,
    title: id,
    question: 'Why?',
    source: { title: id, year: 2011, platform: 'a cloud' },
    tables: [],
    wordTables: [],
    cannotShow: [],
    findings: [],
  };
}

function options(signal: AbortSignal = new AbortController().signal) {
  const closed: string[] = [];
  const start = (provider: 'datastore' | 'azure-tables') => () =>
    Promise.resolve({ provider, close: () => Promise.resolve(void closed.push(provider)) } as unknown as BenchProvider);
  return {
    closed,
    start: { datastore: start('datastore'), 'azure-tables': start('azure-tables') },
    log: () => {},
    signal,
    totalMs: 60_000,
    graceMs: 50,
  };
}

test('an experiment that fails stands with its message, and the next one runs', async () => {
  const results = await runExperiments(
    [
      experiment('a', () => Promise.reject(new Error('the emulator is gone'))),
      experiment('b', () => Promise.resolve(chapter('b'))),
    ],
    options(),
  );
  expect(results.map(({ id, failure }) => [id, failure])).toEqual([
    ['a', 'the emulator is gone'],
    ['b', null],
  ]);
  expect(problemsOf(results[0]!)).toEqual(['the emulator is gone']);
  expect(problemsOf(results[1]!)).toEqual([]);
});

test('each experiment has emulators of its own, started once and closed after it, also when it fails', async () => {
  const given = options();
  const seen: BenchProvider[] = [];
  await runExperiments(
    [
      experiment('a', async (context) => {
        seen.push(await context.emulator('datastore'), await context.emulator('datastore'));
        throw new Error('on the way');
      }),
      experiment('b', async (context) => {
        expect(given.closed).toEqual(['datastore']);
        seen.push(await context.emulator('datastore'));
        return chapter('b');
      }),
    ],
    given,
  );
  expect(seen[0]).toBe(seen[1]);
  expect(seen[2]).not.toBe(seen[0]);
  expect(given.closed).toEqual(['datastore', 'datastore']);
});

test('an interruption ends the experiment under way, whose chapter stays, and begins no other', async () => {
  const stop = new AbortController();
  const results = await runExperiments(
    [
      experiment('a', ({ signal }) => {
        stop.abort(new Error('ended by SIGINT'));
        expect(signal.aborted).toBe(true);
        return Promise.resolve(chapter('a'));
      }),
      experiment('b', () => Promise.resolve(chapter('b'))),
    ],
    options(stop.signal),
  );
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ id: 'a', endedBy: 'ended by SIGINT', chapter: { id: 'a' } });
  expect(problemsOf(results[0]!)).toEqual(['ended early: ended by SIGINT']);
});

function waiting(id: ExperimentId, budgetMs: number): Experiment {
  const run = ({ signal }: ExperimentContext): Promise<Chapter> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(chapter(id))));
  return experiment(id, run, budgetMs);
}

test.each([
  { what: 'what budgets leave goes to the first that needs it', budgets: [50_000, 100_000], took: [300, 100] },
  { what: 'budgets that do not fit are all cut by the same factor', budgets: [200_000, 600_000], took: [100, 300] },
])('$what', async ({ budgets: [first = 0, second = 0], took }) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const quick = experiment('a', () => Promise.resolve(chapter('a')), 1_000_000);
  const running = runExperiments([quick, waiting('b', first), waiting('c', second)], {
    ...options(),
    totalMs: 400_000,
  });
  for (const seconds of took) await vi.advanceTimersByTimeAsync(seconds * 1_000);
  const results = await running;
  expect(results.map(({ endedBy }) => endedBy)).toEqual([null, ...took.map((seconds) => `its ${seconds} s were over`)]);
  expect(results.map(({ chapter: one }) => one?.id)).toEqual(['a', 'b', 'c']);
});

test('an experiment that does not end is left', async () => {
  const [result] = await runExperiments([experiment('a', () => new Promise(() => {}))], {
    ...options(),
    totalMs: 10,
  });
  expect(result!.failure).toMatch(/did not end within 50 ms/);
});

test('all experiments are there, each with its question', () => {
  expect(EXPERIMENTS.map(({ id }) => id)).toEqual([...EXPERIMENT_IDS]);
  for (const { question } of EXPERIMENTS) expect(question).toMatch(/\?$/);
});
