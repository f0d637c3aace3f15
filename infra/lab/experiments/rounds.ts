// Several variants in alternating rounds, so that a machine that slows down slows all of them alike. A variant that fails shows as such, and
// the others go on.
import { setImmediate as turn } from 'node:timers/promises';
import { type ExperimentContext, messageOf, type RunsOptions } from './experiment.ts';
import { type Figure, figureOf } from './results.ts';

/** One figure of each column, from one run. */
export type Numbers<Column extends string = string> = Readonly<Record<Column, number>>;

/** One way to do the work, which fills columns of one row. */
export interface Variant {
  /** Id of its row; several variants may fill columns of one. */
  readonly row: string;
  /** Ids of the columns that it fills. */
  readonly columns: readonly string[];
  /** Does the work once. `round` counts up from 0, warm-ups included, so that nothing is written twice. */
  run(round: number): Promise<Numbers>;
}

/** Figures by row, and there by column. */
export type Cells = ReadonlyMap<string, Readonly<Record<string, Figure>>>;

/**
 * Runs every variant once a round, each round beginning with another one. After the signal nothing is started any more: what was not measured is
 * `missing`. A variant is left out after its first failure. Never rejects.
 */
export async function alternatingRuns(
  { signal }: Pick<ExperimentContext, 'signal'>,
  { rounds, warmUps = 1 }: RunsOptions,
  variants: readonly Variant[],
): Promise<Cells> {
  const trials = variants.map((variant) => new Trial(variant));
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (let place = 0; place < trials.length; place += 1) {
      // Work that never waits would keep signals from being handled.
      await turn();
      if (signal.aborted) break;
      await trials[(round + place) % trials.length]!.run(round, round >= warmUps, signal);
    }
  }
  const why = signal.aborted ? messageOf(signal.reason) : 'no rounds';
  const cells = new Map<string, Record<string, Figure>>();
  for (const trial of trials) {
    const { row } = trial.variant;
    cells.set(row, { ...cells.get(row), ...trial.figures(why) });
  }
  return cells;
}

class Trial {
  readonly variant: Variant;
  readonly #runs: Numbers[] = [];
  #failed: string | undefined;

  constructor(variant: Variant) {
    this.variant = variant;
  }

  async run(round: number, counts: boolean, signal: AbortSignal): Promise<void> {
    if (this.#failed !== undefined) return;
    try {
      const numbers = await this.variant.run(round);
      if (counts) this.#runs.push(numbers);
    } catch (error) {
      if (!signal.aborted) this.#failed = messageOf(error);
    }
  }

  figures(why: string): Record<string, Figure> {
    const failed = this.#failed;
    const figureIn = (column: string): Figure =>
      failed === undefined
        ? figureOf(
            this.#runs.map((run) => run[column]).filter((value) => value !== undefined),
            why,
          )
        : { failed };
    return Object.fromEntries(this.variant.columns.map((column) => [column, figureIn(column)]));
  }
}

/** Wall time, and the processor time of this process, all of its threads. */
export interface Taken {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** What `work` takes. */
export async function taken(work: () => unknown): Promise<Taken> {
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const wallMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wallMs, cpuMs: (user + system) / 1_000 };
}

/** Does the work for each of the items, so many at a time. Rejects with the first failure, or the signal's reason, when nothing is under way any more. */
export async function forEachOf<Item>(
  items: readonly Item[],
  { inFlight, signal }: { readonly inFlight: number; readonly signal: AbortSignal },
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const failure = new AbortController();
  const caller = async (): Promise<void> => {
    try {
      for (const item of left) {
        signal.throwIfAborted();
        if (failure.signal.aborted) return;
        await work(item);
      }
    } catch (error) {
      failure.abort(error);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  failure.signal.throwIfAborted();
}
