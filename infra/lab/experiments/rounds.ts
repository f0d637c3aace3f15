// Several variants in alternating rounds: a machine that slows down slows all of them alike. A
// variant that fails or hangs shows as such.
import { setImmediate as turn } from 'node:timers/promises';
import { type ExperimentContext, messageOf } from './experiment.ts';
import { type Figure, figureOf } from '../../../shared/lab/report/chapters/schema.ts';

/** One figure of each column, from one run. */
export type Numbers = Readonly<Record<string, number>>;

/** One way to do the work, which fills columns of one row. */
export interface Variant {
  /** Id of its row; several variants may fill columns of one. */
  readonly row: string;
  /** Ids of the columns that it fills. */
  readonly columns: readonly string[];
  /**
   * Does the work once. `round` counts up from 0, warm-ups included, so that nothing is written
   * twice.
   */
  run(round: number, signal: AbortSignal): Numbers | Promise<Numbers>;
}

export interface Rounds {
  /** As many as the document had. */
  readonly rounds: number;
  /** Rounds before those that count; default 1. */
  readonly warmUps?: number;
  /**
   * Longer than any run takes on a busy machine: what takes this long hangs. Default five minutes.
   */
  readonly runMaxMs?: number;
}

/** Figures by row, and there by column. */
export type Cells = ReadonlyMap<string, Readonly<Record<string, Figure>>>;

const RUN_MAX_MS = 300_000;

/**
 * Runs every variant once a round, each round beginning with another one. After the signal the rest
 * is `missing`. A variant is left out after its first failure. Never rejects.
 */
export async function alternatingRuns(
  { signal }: Pick<ExperimentContext, 'signal'>,
  { rounds, warmUps = 1, runMaxMs = RUN_MAX_MS }: Rounds,
  variants: readonly Variant[],
): Promise<Cells> {
  const trials = variants.map((variant) => ({
    variant,
    runs: [] as Numbers[],
    failed: undefined as string | undefined,
  }));
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (let place = 0; place < trials.length; place += 1) {
      // Work that never waits would keep signals from being handled.
      await turn();
      const trial = trials[(round + place) % trials.length]!;
      if (signal.aborted || trial.failed !== undefined) continue;
      try {
        const numbers = await within(runMaxMs, signal, (either) => trial.variant.run(round, either));
        if (round >= warmUps) trial.runs.push(numbers);
      } catch (error) {
        if (!signal.aborted) trial.failed = messageOf(error);
      }
    }
  }
  const why = signal.aborted ? messageOf(signal.reason) : 'nothing to show';
  const cells = new Map<string, Record<string, Figure>>();
  for (const { variant, runs, failed } of trials) {
    const figures = variant.columns.map((column): [string, Figure] => [
      column,
      failed === undefined
        ? figureOf(
            runs.flatMap((run) => run[column] ?? []),
            why,
          )
        : { failed },
    ]);
    cells.set(variant.row, { ...cells.get(variant.row), ...Object.fromEntries(figures) });
  }
  return cells;
}

/** The work's value. Rejects when the signal or the time ends it, also if it heeds neither. */
async function within<Value>(
  maxMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Value> {
  const overtime = new AbortController();
  const timer = setTimeout(() => overtime.abort(new Error(`no end within ${maxMs} ms`)), maxMs);
  const either = AbortSignal.any([signal, overtime.signal]);
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(either.reason);
  either.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work(either), ended.promise]);
  } finally {
    clearTimeout(timer);
    either.removeEventListener('abort', end);
  }
}
