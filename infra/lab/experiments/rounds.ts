// Variants in alternating rounds: a machine that slows down slows all of them alike.
import { setImmediate as turn } from 'node:timers/promises';
import { type ExperimentContext, messageOf } from './experiment.ts';
import { type Figure, figureOf } from '../../../shared/lab/report/chapters/schema.ts';

export type Numbers = Readonly<Record<string, number>>;

export interface Variant {
  /** Several variants may fill columns of one row. */
  readonly row: string;
  readonly columns: readonly string[];
  /** `round` counts up from 0, warm-ups included, so that nothing is written twice. */
  run(round: number, signal: AbortSignal): Numbers | Promise<Numbers>;
}

export interface Rounds {
  readonly rounds: number;
  /** Rounds before those that count; default 1. */
  readonly warmUps?: number;
  /** Default five minutes: no run takes as long, even on a busy machine. */
  readonly runMaxMs?: number;
}

export type Cells = ReadonlyMap<string, Readonly<Record<string, Figure>>>;

const RUN_MAX_MS = 300_000;

/**
 * Each round begins with another variant. One that fails or hangs is left out from then on; after
 * the signal the rest is `missing`. Never rejects.
 */
export async function alternatingRuns(
  { signal }: Pick<ExperimentContext, 'signal'>,
  { rounds, warmUps = 1, runMaxMs = RUN_MAX_MS }: Rounds,
  variants: readonly Variant[],
): Promise<Cells> {
  const trials = variants.map((variant): Trial => ({ variant, runs: [], failed: undefined }));
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
  for (const trial of trials) {
    const { row, columns } = trial.variant;
    const figures = columns.map((column) => [column, figureIn(trial, column, why)]);
    cells.set(row, { ...cells.get(row), ...Object.fromEntries(figures) });
  }
  return cells;
}

interface Trial {
  readonly variant: Variant;
  readonly runs: Numbers[];
  failed: string | undefined;
}

function figureIn({ runs, failed }: Trial, column: string, why: string): Figure {
  if (failed !== undefined) return { failed };
  const values = runs.flatMap((run) => run[column] ?? []);
  return figureOf(values, why);
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
