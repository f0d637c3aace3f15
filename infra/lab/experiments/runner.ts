// Runs experiments one after the other, each with emulators of its own.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { BenchProvider } from '../providers.ts';
import { type Experiment, messageOf } from './experiment.ts';
import type { Result } from '../../../shared/lab/report/chapters/schema.ts';

export interface RunnerOptions {
  readonly start: Readonly<Record<Provider, () => Promise<BenchProvider>>>;
  readonly log: (line: string) => void;
  /** Ends all of it; what there is by then is returned. */
  readonly signal: AbortSignal;
}

/** A failure stands in its result. After the signal none begins. Never rejects. */
export async function runExperiments(experiments: readonly Experiment[], options: RunnerOptions): Promise<Result[]> {
  const results: Result[] = [];
  for (const experiment of experiments) {
    if (options.signal.aborted) break;
    options.log(`${experiment.id}: ${experiment.title} ...`);
    results.push(await runOne(experiment, options));
  }
  return results;
}

async function runOne(experiment: Experiment, { start, signal, ...options }: RunnerOptions): Promise<Result> {
  const emulators = new Map<Provider, Promise<BenchProvider>>();
  const emulator = (provider: Provider): Promise<BenchProvider> => {
    const started = emulators.get(provider) ?? start[provider]();
    emulators.set(provider, started);
    return started;
  };
  const { id, title, question, source } = experiment;
  const log = (line: string): void => options.log(`${id}: ${line}`);
  try {
    const chapter = await experiment.run({ signal, log, emulator });
    return { id, title, question, source, chapter, failure: null };
  } catch (error) {
    const failure = messageOf(error);
    log(`FAILED: ${failure}`);
    return { id, title, question, source, chapter: null, failure };
  } finally {
    // A dead emulator must not keep the others' results back: its failure to close is dropped.
    await Promise.allSettled([...emulators.values()].map(async (started) => (await started).close()));
  }
}
