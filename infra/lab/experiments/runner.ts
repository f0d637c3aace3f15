// Runs experiments one after the other, each with emulators of its own and a bound on its time. What fails stands in the result, and the rest
// goes on.
import { setTimeout as delay } from 'node:timers/promises';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { BenchProvider } from '../bench/providers.ts';
import { type Experiment, type ExperimentContext, messageOf } from './experiment.ts';
import type { ChapterResult } from './results.ts';

/** How long an experiment may take to end after its signal, and an emulator to close. */
const GRACE_MS = 15_000;

export interface RunnerOptions {
  /** Starts a provider's emulator. */
  readonly start: Readonly<Record<Provider, () => Promise<BenchProvider>>>;
  readonly log: (line: string) => void;
  /** For all experiments together. */
  readonly totalMs: number;
  /** Ends all of it; what there is by then is returned. */
  readonly signal: AbortSignal;
  readonly graceMs?: number;
}

/** A result for each experiment, in order; those that the signal left no time for are not begun. Never rejects. */
export async function runExperiments(
  experiments: readonly Experiment[],
  options: RunnerOptions,
): Promise<ChapterResult[]> {
  const results: ChapterResult[] = [];
  const endMs = performance.now() + options.totalMs;
  for (const [at, experiment] of experiments.entries()) {
    if (options.signal.aborted) break;
    options.log(`${experiment.id}: ${experiment.title} ...`);
    results.push(await runOne(experiment, shareMs(experiments.slice(at), endMs - performance.now()), options));
  }
  return results;
}

/**
 * What the first one may take of the time that is left: all that the others' budgets do not need; where budgets do not fit, each is cut by the same
 * factor.
 */
function shareMs(experiments: readonly Experiment[], leftMs: number): number {
  const own = experiments[0]!.budgetMs;
  const sum = experiments.reduce((total, { budgetMs }) => total + budgetMs, 0);
  return Math.max(0, (leftMs * own) / sum, leftMs - (sum - own));
}

async function runOne(experiment: Experiment, limitMs: number, options: RunnerOptions): Promise<ChapterResult> {
  const { id, title, question } = experiment;
  const startedMs = performance.now();
  const overtime = new AbortController();
  const timer = setTimeout(() => overtime.abort(new Error(`its ${Math.round(limitMs / 1_000)} s were over`)), limitMs);
  const signal = AbortSignal.any([options.signal, overtime.signal]);
  const emulators = new Emulators(options.start);
  const took = () => ({ durationMs: performance.now() - startedMs });
  try {
    const context: ExperimentContext = {
      signal,
      log: (line) => options.log(`${id}: ${line}`),
      emulator: (provider) => emulators.of(provider),
    };
    const chapter = await withinGrace(experiment.run(context), signal, options.graceMs ?? GRACE_MS);
    return { id, title, question, ...took(), chapter, failure: null, endedBy: reasonOf(signal) };
  } catch (error) {
    options.log(`${id}: FAILED: ${messageOf(error)}`);
    return { id, title, question, ...took(), chapter: null, failure: messageOf(error), endedBy: reasonOf(signal) };
  } finally {
    clearTimeout(timer);
    await emulators.close(options.graceMs ?? GRACE_MS);
  }
}

function reasonOf(signal: AbortSignal): string | null {
  return signal.aborted ? messageOf(signal.reason) : null;
}

/** Rejects if the work goes on for too long after the signal. */
async function withinGrace<Result>(work: Promise<Result>, signal: AbortSignal, graceMs: number): Promise<Result> {
  const settled = new AbortController();
  const overdue = async (): Promise<never> => {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true, signal: settled.signal });
    });
    await delay(graceMs, undefined, { signal: settled.signal });
    throw new Error(`${messageOf(signal.reason)}, and it did not end within ${graceMs} ms after that`);
  };
  try {
    return await Promise.race([work, overdue()]);
  } finally {
    settled.abort();
  }
}

/** The emulators of one experiment: each is started once. */
class Emulators {
  readonly #start: RunnerOptions['start'];
  readonly #started = new Map<Provider, Promise<BenchProvider>>();

  constructor(start: RunnerOptions['start']) {
    this.#start = start;
  }

  of(provider: Provider): Promise<BenchProvider> {
    const started = this.#started.get(provider) ?? this.#start[provider]();
    this.#started.set(provider, started);
    return started;
  }

  /** A dead emulator must not keep the others' results back: its failure to close is dropped. */
  async close(graceMs: number): Promise<void> {
    const closing = [...this.#started.values()].map(async (started) => (await started).close());
    await Promise.race([Promise.allSettled(closing), delay(graceMs, undefined, { ref: false })]);
  }
}
