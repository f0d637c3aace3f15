// 200 seeds find nothing. One seed is one run.
import { expect, test } from 'vitest';
import { memoryState } from '../../shared/drivers/memory.ts';
import { missing } from './coverage.ts';
import { Events } from './events.ts';
import { checkApplies, mutantNames, patched, readMutant } from './mutate.ts';
import { Network } from './network.ts';
import { runSeeds } from './parallel.ts';
import { Process } from './process.ts';
import { run } from './run.ts';
import { type Fault, scenarioOf } from './scenario.ts';
import { Scheduler } from '../../shared/lab/kit/scheduler.ts';
import { shrink } from './shrink.ts';
import { entityId } from '../support/ids.ts';

/** `.ci/run` plays the 400 after them, which must also meet every danger there is. */
const SEEDS = 200;

test(`${SEEDS} seeds find nothing`, { timeout: 600_000 }, async () => {
  expect((await runSeeds({ from: 1, count: SEEDS })).failures).toEqual([]);
});

test('400 seeds are asked for every danger, fewer for none', () => {
  expect(missing(400, new Map()).length).toBeGreaterThan(30);
  expect(missing(399, new Map())).toEqual([]);
});

test('every mutant applies to the sources as they are', () => {
  const names = mutantNames();
  expect(names.length).toBeGreaterThan(60);
  for (const name of names) checkApplies(readMutant(name));
});

test('a mutant whose text is gone, or stands there twice, is refused by name', () => {
  const patch = { file: 'a.ts', find: 'old', replace: 'new' };
  expect(patched('one old thing', patch, 'm')).toBe('one new thing');
  expect(() => patched('nothing of it', patch, 'm')).toThrow('the mutant "m" no longer applies: a.ts holds 0 times');
  expect(() => patched('old and old', patch, 'm')).toThrow('holds 2 times');
});

test('an engine that breaks a rule is caught, and nothing else is changed by that', { timeout: 120_000 }, async () => {
  const seeds = { from: 1, count: 20, workers: 1, failuresMax: 1 };
  const broken = await runSeeds({ ...seeds, mutant: 'write-without-its-condition' });
  expect(broken.failures).toHaveLength(1);
  const { seed: from } = broken.failures[0]!;
  expect((await runSeeds({ ...seeds, from, count: 1 })).failures).toEqual([]);
});

test.each([3, 14, 159])('seed %d runs the same way twice, event by event', async (seed) => {
  const [first, second] = [await run(scenarioOf(seed), true), await run(scenarioOf(seed), true)];
  expect(first.lines.length).toBeGreaterThan(50);
  expect(second.lines).toEqual(first.lines);
  expect(second.hash).toBe(first.hash);
});

test('another seed is another run; a scenario survives being written to a file', async () => {
  const scenario = scenarioOf(2);
  const { hash } = await run(scenario, true);
  expect((await run(scenarioOf(1), true)).hash).not.toBe(hash);
  expect((await run(JSON.parse(JSON.stringify(scenario)) as typeof scenario, true)).hash).toBe(hash);
});

test('a scenario that does not fail is not made smaller', async () => {
  const scenario = scenarioOf(1);
  expect(await shrink(scenario, 1_000)).toBe(scenario);
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

test('of a batch any part may be applied, and nothing is known of any member', async () => {
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
] as const)('of three writes, %s, %i are there, and each is %s', async (fault, applied, kind) => {
  expect(await batch(fault, 1)).toEqual({ applied, outcomes: [kind, kind, kind] });
});
