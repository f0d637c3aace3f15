// An experiment, and what it is given: emulators, a bound on its time, and a way to measure that survives what fails.
import { setImmediate as turn } from 'node:timers/promises';
import type { Provider } from '../../shared/compare/dimensions.ts';
import type { BenchProvider } from '../bench/providers.ts';
import { type Chapter, type ExperimentId, type Figure, figureOf } from './results.ts';

export interface Experiment {
  readonly id: ExperimentId;
  readonly title: string;
  /** Ends in a question mark. */
  readonly question: string;
  /** Its share of the ten minutes of the whole plan; its signal is aborted when it is over. */
  readonly budgetMs: number;
  /**
   * Must resolve soon after the signal: figures that were not measured are `missing` then, and the chapter holds what there is. `runsOf` does
   * this. A rejection leaves the chapter without tables, with its message.
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

/**
 * Runs `work` so often, one after the other, and makes a figure of the numbers it resolves to. A failure becomes the figure, with its message;
 * after the signal nothing is started any more. Never rejects.
 */
export async function runsOf(
  { signal }: Pick<ExperimentContext, 'signal'>,
  { rounds, warmUps = 1 }: RunsOptions,
  work: () => number | Promise<number>,
): Promise<Figure> {
  const runs: number[] = [];
  for (let round = -warmUps; round < rounds; round += 1) {
    // Work that never waits would keep signals from being handled.
    await turn();
    if (signal.aborted) break;
    try {
      const value = await work();
      if (round >= 0) runs.push(value);
    } catch (error) {
      if (signal.aborted) break;
      return { failed: messageOf(error) };
    }
  }
  return figureOf(runs, signal.aborted ? messageOf(signal.reason) : 'no rounds');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Milliseconds that `work` takes. */
export async function elapsedMs(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
