// Runs experiments one after the other, each with emulators of its own. A failure stands in the
// result, and the rest goes on.
import { setTimeout as delay } from 'node:timers/promises';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { BenchProvider } from '../providers.ts';
import { type Experiment, messageOf } from './experiment.ts';
import type { Result } from '../../../shared/lab/report/chapters/schema.ts';

/**
 * Many times what the longest takes: whoever is not done by then hangs, and the others have their
 * turn.
 */
const EXPERIMENT_MAX_MS = 3_600_000;
/** For an experiment to end after the signal, and for an emulator to close. */
const GRACE_MS = 15_000;

export interface RunnerOptions {
  /** Starts a provider's emulator. */
  readonly start: Readonly<Record<Provider, () => Promise<BenchProvider>>>;
  readonly log: (line: string) => void;
  /** Ends all of it; what there is by then is returned. */
  readonly signal: AbortSignal;
  readonly experimentMaxMs?: number;
  readonly graceMs?: number;
}

/**
 * A result for each experiment, in order; those that the signal left no time for are not begun.
 * Never rejects.
 */
export async function runExperiments(experiments: readonly Experiment[], options: RunnerOptions): Promise<Result[]> {
  const results: Result[] = [];
  for (const experiment of experiments) {
    if (options.signal.aborted) break;
    options.log(`${experiment.id}: ${experiment.title} ...`);
    results.push(await runOne(experiment, options));
  }
  return results;
}

async function runOne(experiment: Experiment, options: RunnerOptions): Promise<Result> {
  const { experimentMaxMs = EXPERIMENT_MAX_MS, graceMs = GRACE_MS, signal } = options;
  const emulators = new Map<Provider, Promise<BenchProvider>>();
  const emulator = (provider: Provider): Promise<BenchProvider> => {
    const started = emulators.get(provider) ?? options.start[provider]();
    emulators.set(provider, started);
    return started;
  };
  const log = (line: string): void => options.log(`${experiment.id}: ${line}`);
  const ended = await endOf(() => experiment.run({ signal, log, emulator }), { signal, experimentMaxMs, graceMs });
  if (ended.failure !== null) log(`FAILED: ${ended.failure}`);
  // A dead emulator must not keep the others' results back: its failure to close is dropped.
  const closing = [...emulators.values()].map(async (started) => (await started).close());
  await Promise.race([Promise.allSettled(closing), delay(graceMs, undefined, { ref: false })]);
  const { id, title, question, source } = experiment;
  return { id, title, question, source, ...ended };
}

type Bounds = Required<Pick<RunnerOptions, 'signal' | 'experimentMaxMs' | 'graceMs'>>;

/**
 * The chapter, or why there is none: also when the work hangs, or goes on for too long after the
 * signal.
 */
async function endOf(
  work: () => Promise<Result['chapter']>,
  { signal, experimentMaxMs, graceMs }: Bounds,
): Promise<Pick<Result, 'chapter' | 'failure'>> {
  const settled = new AbortController();
  const late = async (): Promise<never> => {
    try {
      await delay(experimentMaxMs, undefined, { signal: AbortSignal.any([signal, settled.signal]) });
    } catch {
      await delay(graceMs, undefined, { signal: settled.signal });
      throw new Error(`${messageOf(signal.reason)}, and it did not end within ${graceMs} ms after that`);
    }
    throw new Error(`it did not end within ${experimentMaxMs} ms`);
  };
  try {
    return { chapter: await Promise.race([work(), late()]), failure: null };
  } catch (error) {
    return { chapter: null, failure: messageOf(error) };
  } finally {
    settled.abort();
  }
}
