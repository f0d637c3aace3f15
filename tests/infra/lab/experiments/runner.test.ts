// The plan as a whole: what fails or is interrupted stands in the results, and the rest goes on.
import { expect, test } from 'vitest';
import type { BenchProvider } from '../../../../infra/lab/providers.ts';
import { EXPERIMENTS } from '../../../../infra/lab/experiments/documents/documents.ts';
import type { Experiment } from '../../../../infra/lab/experiments/experiment.ts';
import { type Chapter, problemsOf } from '../../../../shared/lab/report/chapters/schema.ts';
import { runExperiments } from '../../../../infra/lab/experiments/runner.ts';

function experiment(id: Experiment['id'], run: Experiment['run']): Experiment {
  return { id, title: id, question: 'Why?', source: { title: id, year: 2011, platform: 'a cloud' }, run };
}

const CHAPTER: Chapter = { tables: [], wordTables: [], cannotShow: [], findings: [] };

function options(signal: AbortSignal = new AbortController().signal) {
  const closed: string[] = [];
  const start = (provider: 'datastore' | 'azure-tables') => () =>
    Promise.resolve({ provider, close: () => Promise.resolve(void closed.push(provider)) } as unknown as BenchProvider);
  const started = { datastore: start('datastore'), 'azure-tables': start('azure-tables') };
  return { closed, start: started, log: () => {}, signal };
}

test('an experiment that fails stands with its message, and the next one runs', async () => {
  const failing = experiment('a', () => Promise.reject(new Error('the emulator is gone')));
  const results = await runExperiments([failing, experiment('b', () => Promise.resolve(CHAPTER))], options());
  expect(results.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(results.map(({ failure }) => failure)).toEqual(['the emulator is gone', null]);
  expect(results.map(problemsOf)).toEqual([['the emulator is gone'], []]);
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
        return CHAPTER;
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
        return Promise.resolve(CHAPTER);
      }),
      experiment('b', () => Promise.resolve(CHAPTER)),
    ],
    options(stop.signal),
  );
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ id: 'a', chapter: CHAPTER, failure: null });
});

test('all experiments are there, each with its question', () => {
  expect(EXPERIMENTS.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
  for (const { question } of EXPERIMENTS) expect(question).toMatch(/\?$/);
});
