// Runs seeds in a process of its own, so that several processors work and a mutant's sources are loaded by nobody else. Told what to do by
// its parent's message; answers with what it found.
import { mutate } from './mutate.ts';
import { addCounts } from './events.ts';
import type { run as Run } from './run.ts';
import type { Scenario } from './scenario.ts';

/** Of one seed: the first tell enough. */
const COMPLAINTS_MAX = 3;

/** Seeds `from`, `from + step`, ... below `until`. */
export interface Work {
  readonly from: number;
  readonly until: number;
  readonly step: number;
  /** Ends after so many milliseconds, or at once when it has found so many failures. */
  readonly forMs: number;
  readonly failuresMax: number;
  /** Runs on sources changed so. */
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

/** With the traces of errors. */
async function complaintsOf(scenario: Scenario, run: typeof Run): Promise<string[]> {
  return (await run(scenario)).complaints.slice(0, COMPLAINTS_MAX);
}

async function work({ from, until, step, forMs, failuresMax, mutant }: Work): Promise<Found> {
  if (mutant !== undefined) mutate(mutant);
  // Only now: the sources that they load may have been changed.
  const [{ run }, { scenarioOf }] = await Promise.all([import('./run.ts'), import('./scenario.ts')]);
  const untilMs = performance.now() + forMs;
  const tracesMax = Error.stackTraceLimit;
  const counts = new Map<string, number>();
  const failures: Failure[] = [];
  let seeds = 0;
  let steps = 0;
  for (let seed = from; seed < until && failures.length < failuresMax && performance.now() < untilMs; seed += step) {
    // Traces of errors that are nobody's fault take a part of the time; whoever fails is played once more, with them.
    Error.stackTraceLimit = 0;
    const result = await run(scenarioOf(seed));
    Error.stackTraceLimit = tracesMax;
    seeds += 1;
    steps += result.steps;
    addCounts(counts, result.counts);
    if (result.complaints.length > 0) failures.push({ seed, complaints: await complaintsOf(scenarioOf(seed), run) });
  }
  return { seeds, steps, failures, counts: [...counts] };
}

// Nobody would hear the answer.
process.once('disconnect', () => process.exit());
process.once('message', (message: Work) => {
  work(message).then(
    (found) => process.send?.({ found }, () => process.disconnect()),
    (error: unknown) =>
      process.send?.({ error: String(error instanceof Error ? error.stack : error) }, () => process.disconnect()),
  );
});
