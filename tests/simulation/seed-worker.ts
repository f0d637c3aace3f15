// Runs seeds in a process of its own, which alone loads a mutant's sources.
import { mutate } from './mutate.ts';
import { addCounts } from './events.ts';
import type { SimulationName } from './simulations.ts';

/** A seed's first complaints suffice. */
const COMPLAINTS_MAX = 3;

export type Message =
  /** The seed that it begins. */
  { readonly at: number } | { readonly found: Found } | { readonly error: string };

/** Seeds `from`, `from + step`, ... below `until`. */
export interface Work {
  readonly from: number;
  readonly until: number;
  readonly step: number;
  /** Ends after this time, or after `failuresMax` failures. */
  readonly forMs: number;
  readonly failuresMax: number;
  readonly of: SimulationName;
  /** The mutant whose sources it runs. */
  readonly mutant?: string | undefined;
}

export interface Failure {
  readonly seed: number;
  readonly complaints: readonly string[];
}

export interface Found {
  readonly seeds: number;
  readonly steps: number;
  readonly failures: readonly Failure[];
  readonly counts: readonly (readonly [string, number])[];
}

async function work({ from, until, step, forMs, failuresMax, of, mutant }: Work): Promise<Found> {
  if (mutant !== undefined) mutate(mutant);
  // Imported after `mutate`, which may change these sources.
  const { [of]: simulation } = (await import('./simulations.ts')).SIMULATIONS;
  const untilMs = performance.now() + forMs;
  const tracesMax = Error.stackTraceLimit;
  const counts = new Map<string, number>();
  const failures: Failure[] = [];
  let seeds = 0;
  let steps = 0;
  for (let seed = from; seed < until && failures.length < failuresMax && performance.now() < untilMs; seed += step) {
    tell({ at: seed });
    // Stack traces of expected errors take much time. A failing seed is replayed with them.
    Error.stackTraceLimit = 0;
    const result = await simulation.play(simulation.draw(seed));
    Error.stackTraceLimit = tracesMax;
    seeds += 1;
    steps += result.steps;
    addCounts(counts, result.counts);
    if (result.complaints.length === 0) continue;
    const { complaints } = await simulation.play(simulation.draw(seed));
    failures.push({ seed, complaints: complaints.slice(0, COMPLAINTS_MAX) });
  }
  return { seeds, steps, failures, counts: [...counts] };
}

function end(last: Message): void {
  tell(last, () => process.disconnect());
}

function tell(message: Message, then = (): void => undefined): void {
  process.send?.(message, then);
}

// The parent is gone, so nobody hears the answer.
process.once('disconnect', () => process.exit());
process.once('message', (message: Work) => {
  work(message).then(
    (found) => end({ found }),
    (error: unknown) => end({ error: String(error instanceof Error ? error.stack : error) }),
  );
});
