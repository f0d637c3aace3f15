// Runs experiments one after the other, each with emulators of its own.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { BenchProvider } from '../providers.ts';
import { type Experiment, type ExperimentContext, messageOf } from './experiment.ts';
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
  const log = (line: string): void => options.log(`${experiment.id}: ${line}`);
  const ended = await endOf(experiment, { signal, log, emulator });
  if (ended.failure !== null) log(`FAILED: ${ended.failure}`);
  // A dead emulator must not keep the others' results back: its failure to close is dropped.
  await Promise.allSettled([...emulators.values()].map(async (started) => (await started).close()));
  const { id, title, question, source } = experiment;
  return { id, title, question, source, ...ended };
}

async function endOf(experiment: Experiment, context: ExperimentContext): Promise<Pick<Result, 'chapter' | 'failure'>> {
  try {
    return { chapter: await experiment.run(context), failure: null };
  } catch (error) {
    return { chapter: null, failure: messageOf(error) };
  }
}
