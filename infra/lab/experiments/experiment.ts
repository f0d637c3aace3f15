// An experiment, and what it is given.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { BenchProvider } from '../providers.ts';
import type { Chapter, Result } from '../../../shared/lab/report/chapters/schema.ts';

export interface Experiment extends Pick<Result, 'id' | 'title' | 'question' | 'source'> {
  /**
   * Does all of its work. After the signal it resolves soon, with unmeasured figures `missing`. A
   * rejection leaves the chapter without tables, with its message.
   */
  run(context: ExperimentContext): Promise<Chapter>;
}

export interface ExperimentContext {
  /**
   * The provider's emulator, started at the first call of the experiment and closed after it, with
   * the stores and clients that were opened through it. Rejects if it cannot start.
   */
  emulator(provider: Provider): Promise<BenchProvider>;
  /** Aborted by Ctrl-C; its reason is an Error that says so. */
  readonly signal: AbortSignal;
  /** A line for whoever watches. */
  log(line: string): void;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
