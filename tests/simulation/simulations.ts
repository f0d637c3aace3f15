// The two simulations: of the machine alone, which is fed events, and of the whole store, through
// its calls; and what makes a failing scenario of either smaller.
import { playMachine } from './machine/machine-run.ts';
import { machineScenarioOf, smallerMachine } from './machine/machine-scenario.ts';
import type { Result } from './stage.ts';
import { run } from './store-run.ts';
import { scenarioOf, smaller, type Weather } from './scenario.ts';

export type SimulationName = 'machine' | 'store';

export interface Simulation<S extends Weather> {
  draw(seed: number): S;
  play(scenario: S, isTraced?: boolean): Promise<Result>;
  /** Scenarios with a little less. `struck`: the requests of the run that met a fault. */
  smaller(scenario: S, struck: readonly string[]): Iterable<S>;
}

export const SIMULATIONS: Readonly<Record<SimulationName, Simulation<Weather>>> = {
  machine: {
    draw: machineScenarioOf,
    play: async (scenario: ReturnType<typeof machineScenarioOf>, isTraced) => playMachine(scenario, isTraced),
    smaller: smallerMachine,
  },
  store: { draw: scenarioOf, play: run, smaller },
};

/** The smallest failing scenario found in `forMs`. One that does not fail comes back whole. */
export async function shrink<S extends Weather>(simulation: Simulation<S>, scenario: S, forMs: number): Promise<S> {
  const untilMs = performance.now() + forMs;
  let best = scenario;
  let { complaints, struck } = await simulation.play(best);
  for (let isSmaller = complaints.length > 0; isSmaller;) {
    isSmaller = false;
    for (const candidate of simulation.smaller(best, struck)) {
      if (performance.now() > untilMs) return best;
      const played = await simulation.play(candidate);
      if (played.complaints.length === 0) continue;
      best = candidate;
      ({ complaints, struck } = played);
      isSmaller = true;
      break;
    }
  }
  return best;
}
