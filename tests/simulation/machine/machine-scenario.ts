// A run of the machine as plain data: what is asked of it when, and what goes wrong. A seed draws
// all of it; shrinking leaves data out.
import { Chance } from '../seeded-chance.ts';
import { betterWeather, faultsOf, mergeMishapsOf, mishapsOf, type Weather } from '../scenario.ts';

/** One event from outside. */
export interface Input {
  readonly process: number;
  readonly atMs: number;
  readonly kind: 'put' | 'putIfAbsent' | 'update' | 'delete' | 'get' | 'merge';
  readonly key: number;
  readonly bytes: number;
  /** Of a put alone. */
  readonly ttlMs: number | undefined;
  readonly timeoutMs: number;
}

export interface MachineScenario extends Weather {
  readonly order: 'hash' | 'key';
  readonly keyCount: number;
  /** As `Scenario` has it. */
  readonly prefixBytes: number;
  readonly cacheBytesMax: number;
  readonly commitsWait: boolean;
  /** The longest that a write may have to wait before it departs. */
  readonly roomMs: number;
  readonly inputs: readonly Input[];
}

const WEIGHTS = { put: 30, putIfAbsent: 10, update: 20, delete: 16, get: 16, merge: 8 };
/** Most leaves fall empty, so that many are merged. */
const MERGING_WEIGHTS = { put: 20, putIfAbsent: 5, update: 10, delete: 40, get: 20, merge: 25 };
const TIMEOUT_MS = 30_000;
const PURGE_MS = 400_000;

export function machineScenarioOf(seed: number): MachineScenario {
  const chance = new Chance(seed, 20);
  const processes = 1 + chance.below(3);
  // Long separators split branches. Then values are small: a root holds what one commit makes.
  const isLong = chance.is(0.15);
  const isMerging = chance.is(0.4);
  const keyCount = chance.of(isLong ? [24, 40] : isMerging ? [12, 24, 40] : [1, 2, 6, 12, 24, 40]);
  const spanMs = chance.of([30, 1_000, 20_000, PURGE_MS * 2]);
  const sizes = isLong
    ? { entityBytesMax: 6_000, chunksMax: 14 }
    : { entityBytesMax: chance.of([2_600, 3_000, 4_000, 6_000]), chunksMax: chance.of([10, 14, 30]) };
  const draw = (weights: typeof WEIGHTS, fromMs: number, kind = chance.weighted(weights)): Input => ({
    process: chance.below(processes),
    atMs: Math.floor(fromMs + chance.share() * spanMs),
    kind,
    key: chance.is(0.4) ? chance.below(Math.min(3, keyCount)) : chance.below(keyCount),
    bytes: chance.below(isLong ? 40 : chance.of([30, 200, 500, 1_200])),
    ttlMs: kind === 'put' && chance.is(0.1) ? 1 + chance.below(chance.of([100, PURGE_MS])) : undefined,
    timeoutMs: chance.is(0.2) ? 1 + chance.below(3_000) : TIMEOUT_MS,
  });
  const loadMs = chance.below(300);
  const load = Array.from({ length: chance.is(0.8) ? keyCount : 0 }, (_, key): Input => {
    return { ...draw(WEIGHTS, 0, 'put'), process: 0, atMs: loadMs, key, timeoutMs: TIMEOUT_MS };
  });
  const count = chance.of([12, 30, 60]);
  const rest = Array.from({ length: count }, () => draw(isMerging ? MERGING_WEIGHTS : WEIGHTS, chance.of([0, 2_000])));
  return {
    seed,
    order: chance.of(['hash', 'key']),
    keyCount,
    prefixBytes: isLong ? 200 + chance.below(100) : 0,
    cacheBytesMax: chance.is(0.2) ? 16 * 1024 : 1024 * 1024,
    commitsWait: chance.is(0.3),
    roomMs: chance.of([0, 2, 2, 3_000]),
    ...sizes,
    chunkBytes: 32_768,
    latency: chance.of(['even', 'wide', 'uneven']),
    faults: faultsOf(chance, [0, 0.3, 0.6]),
    skewsMs: Array.from({ length: processes }, () => (chance.is(0.5) ? 0 : chance.below(290_000))),
    mishaps: [...mishapsOf(chance, processes), ...(isMerging ? mergeMishapsOf(chance, processes) : [])],
    inputs: [...load, ...rest].toSorted((a, b) => a.atMs - b.atMs),
  };
}

/** Scenarios with a little less, the largest savings first. `struck`: see `Network`. */
export function* smallerMachine(scenario: MachineScenario, struck: readonly string[]): Generator<MachineScenario> {
  const { inputs, spared = [] } = scenario;
  for (let size = Math.ceil(inputs.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < inputs.length; at += size) yield { ...scenario, inputs: inputs.toSpliced(at, size) };
  yield* betterWeather(scenario);
  for (const name of struck) yield { ...scenario, spared: [...spared, name] };
}
