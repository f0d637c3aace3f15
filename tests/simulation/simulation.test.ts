// Seeds of both simulations find nothing. One seed is one run.
import { expect, test } from 'vitest';
import { memoryState } from '../../shared/drivers/memory.ts';
import { missing } from './coverage.ts';
import { Events } from './events.ts';
import { checkApplies, mutantNames, readMutant } from './mutate.ts';
import { Network } from './network.ts';
import { runSeeds } from './parallel.ts';
import { Process } from './process.ts';
import { type Fault, scenarioOf } from './scenario.ts';
import { Scheduler } from '../../shared/lab/kit/virtual-time.ts';
import { shrink, type Simulation, SIMULATIONS } from './simulations.ts';
import { playMachine } from './machine/machine-run.ts';
import { machineScenarioOf, smallerMachine } from './machine/machine-scenario.ts';
import { entityId } from '../support/ids.ts';

/** `.ci/run` plays more after them, which must also meet every danger there is. */
const SEEDS = 120;
const MACHINE_SEEDS = 400;

test.each([
  ['machine', MACHINE_SEEDS],
  ['store', SEEDS],
] as const)('the %s simulation finds nothing in %i seeds', { timeout: 600_000 }, async (of, count) => {
  expect((await runSeeds({ of, from: 1, count })).failures).toEqual([]);
});

test('a run of 400 seeds must meet every danger', () => {
  expect(missing('store', 400, new Map()).length).toBeGreaterThan(30);
});

test('every mutant applies to the sources as they are', () => {
  const names = mutantNames();
  expect(names.length).toBeGreaterThan(60);
  for (const name of names) checkApplies(readMutant(name));
});

test('an engine that breaks a rule is caught, and nothing else is changed by that', { timeout: 120_000 }, async () => {
  const seeds = { of: 'store', from: 1, count: 20, workers: 1, failuresMax: 1 } as const;
  const broken = await runSeeds({ ...seeds, mutant: 'write-without-its-condition' });
  expect(broken.failures).toHaveLength(1);
  const { seed: from } = broken.failures[0]!;
  expect((await runSeeds({ ...seeds, from, count: 1 })).failures).toEqual([]);
});

test.each([
  ['machine', 3],
  ['machine', 12],
  ['store', 3],
  ['store', 14],
] as const)('the %s simulation plays seed %d twice the same way, event by event', async (of, seed) => {
  const { [of]: simulation } = SIMULATIONS;
  const scenario = simulation.draw(seed);
  const first = await simulation.play(scenario, true);
  expect(first.lines.length).toBeGreaterThan(50);
  const written = JSON.parse(JSON.stringify(scenario)) as typeof scenario;
  for (const again of [await simulation.play(scenario, true), await simulation.play(written, true)]) {
    expect(again.lines).toEqual(first.lines);
    expect(again.hash).toBe(first.hash);
  }
  expect((await simulation.play(simulation.draw(seed + 1), true)).hash).not.toBe(first.hash);
});

test('a scenario that does not fail is not made smaller, one that fails is until little is left', async () => {
  const { store } = SIMULATIONS;
  const scenario = store.draw(1);
  expect(await shrink(store, scenario, 1_000)).toBe(scenario);
  // The faults of a failing run: those that end a caller's write in doubt.
  const doubtful: Simulation<ReturnType<typeof machineScenarioOf>> = {
    draw: machineScenarioOf,
    smaller: smallerMachine,
    play: async (one) => {
      const result = playMachine(one);
      return { ...result, complaints: result.counts.has('answer unknown') ? ['in doubt'] : [] };
    },
  };
  const failing = [...Array(50).keys()]
    .map(machineScenarioOf)
    .find((one) => playMachine(one).counts.has('answer unknown'))!;
  const small = await shrink(doubtful, failing, Infinity);
  expect(small.inputs.length).toBeLessThan(4);
  expect(playMachine(small).counts.get('answer unknown')).toBe(1);
});

/**
 * Sends three writes in one request with one fault, and then reads one of them if `isRead`. Gives
 * how many applied in three hours, and the outcomes.
 */
async function batch(fault: Fault, seed: number, isRead = false): Promise<{ applied: number; outcomes: string[] }> {
  const scenario = { ...scenarioOf(seed), faults: { [fault]: 1 }, mishaps: [], latency: 'even' } as const;
  const scheduler = new Scheduler(seed);
  const state = memoryState();
  const events = new Events(false, () => 0);
  const network = new Network({ scenario, state, scheduler, events, touch: () => undefined });
  const { life } = new Process(0, scheduler, scenario, () => undefined);
  const writes = ['a', 'b', 'c'].map(entityId).map((id) => ({ kind: 'insert', id, parts: [] }) as const);
  const driver = network.driverFor(life);
  const writing = driver.write(writes, { timeoutMs: 1_000 });
  await scheduler.run(writing, 100);
  const reading = isRead ? driver.read([{ id: entityId('a'), parts: 'all' }], { timeoutMs: 1_000 }) : undefined;
  await scheduler.pass(3 * 3_600_000);
  await reading;
  return { applied: state.entities.size, outcomes: (await writing).map(({ kind }) => kind) };
}

test('any part of a batch may be applied, and nothing is known of any member', async () => {
  const runs = await Promise.all(Array.from({ length: 40 }, (_, seed) => batch('part of a batch applied', seed)));
  expect(runs.every(({ outcomes }) => outcomes.every((kind) => kind === 'unknown'))).toBe(true);
  expect([...new Set(runs.map(({ applied }) => applied))].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
});

test('the second copy of a throttled write lands at once or late, but not after a read of its process', async () => {
  const seeds = [...Array(20).keys()];
  const unread = await Promise.all(seeds.map((seed) => batch('turned away though applied', seed)));
  const read = await Promise.all(seeds.map((seed) => batch('turned away though applied', seed, true)));
  expect(new Set(unread.map(({ applied }) => applied))).toEqual(new Set([3]));
  expect(new Set(read.map(({ applied }) => applied))).toEqual(new Set([0, 3]));
});

test.each([
  ['reply lost after applying', 3, 'unknown'],
  ['turned away though applied', 3, 'refused'],
  ['failed before applying', 0, 'unknown'],
] as const)('of three writes, %s, %i take effect, and each is %s', async (fault, applied, kind) => {
  expect(await batch(fault, 1)).toEqual({ applied, outcomes: [kind, kind, kind] });
});
