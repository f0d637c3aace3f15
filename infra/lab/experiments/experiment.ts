// An experiment, and what it is given: emulators and a bound on its time.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { BenchProvider } from '../bench/providers.ts';
import type { Chapter, ExperimentId } from './results.ts';

export interface Experiment {
  readonly id: ExperimentId;
  readonly title: string;
  /** Ends in a question mark. */
  readonly question: string;
  /** What it may need on two free cores. The ten minutes of the whole plan are shared in this proportion; its signal is aborted when its share is over. */
  readonly budgetMs: number;
  /**
   * Must resolve soon after the signal: figures that were not measured are `missing` then, and the chapter holds what there is. Alternating
   * rounds do this (rounds.ts). A rejection leaves the chapter without tables, with its message.
   */
  run(context: ExperimentContext): Promise<Chapter>;
}

export interface ExperimentContext {
  /**
   * The provider's emulator, started at the first call of the experiment and closed after it, with the stores and clients that were opened
   * through it. Rejects if it cannot start.
   */
  emulator(provider: Provider): Promise<BenchProvider>;
  /** Aborted by Ctrl-C, and when the experiment's time is over; its reason is an Error that says which. */
  readonly signal: AbortSignal;
  /** A line for whoever watches. */
  log(line: string): void;
}

export interface RunsOptions {
  /** As many as the document had. */
  readonly rounds: number;
  /** Rounds before those that count; default 1. */
  readonly warmUps?: number;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
