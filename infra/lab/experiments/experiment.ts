// An experiment, and what it is given.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { BenchProvider } from '../providers.ts';
import type { Chapter, Result } from '../../../shared/lab/report/chapters/schema.ts';

export interface Experiment extends Pick<Result, 'id' | 'title' | 'question' | 'source'> {
  /** After the signal it resolves soon, with unmeasured figures `missing`. */
  run(context: ExperimentContext): Promise<Chapter>;
}

export interface ExperimentContext {
  /** Started at the experiment's first call, and closed after it with all that it opened. */
  emulator(provider: Provider): Promise<BenchProvider>;
  /** Its reason is an Error that says why. */
  readonly signal: AbortSignal;
  log(line: string): void;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
