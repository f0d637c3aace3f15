// The two simulations: of the machine alone, which is fed events, and of the whole store, through
// its calls.
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
