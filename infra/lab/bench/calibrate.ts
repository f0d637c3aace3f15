// `npm run bench -- --calibrate`: what the client of each layout spends of its own processor, for the model of the clouds. The emulators run
// in processes of their own, and only this process's time counts.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { median } from '../../../shared/lab/kit/median.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { ProcessorCosts, ProcessorTable } from '../../../shared/lab/cloud/data/processor.ts';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { type Backend, costsOf, engineLoads, type Measured } from './calibration/costs.ts';
import { type DriverUse, usePer } from './calibration/counted.ts';
import { CALIBRATION, containerLoads, type Load, plainLoads } from './calibration/loads.ts';
import { spend, type Turn } from './calibration/turn.ts';
import type { Driver } from '../../../shared/store/index.ts';
import type { BenchProvider } from './providers.ts';

/** Rounds further apart than this share of their median are measured once more. */
const SPREAD_MAX = 0.15;

/** How much is measured. */
export interface CalibrationSize {
  /** Records in each table; 500 at least. */
  readonly records: number;
  /** Entity sizes at which containers are kept, in bytes; undefined: the provider's own limit. */
  readonly containerBytes: readonly (number | undefined)[];
  /** Callers of single operations of this store. */
  readonly callers: readonly number[];
  readonly rounds: number;
  /** Processor time of one turn. */
  readonly processorMs: number;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** The table without its circumstances. */
export type Calibration = Pick<ProcessorTable, 'rounds' | 'costs' | 'loads'>;

/** Measures both providers' clients and this store on the memory driver, in rounds that each pass all loads. Closes what it opens, not the providers. */
export async function calibrate(providers: readonly BenchProvider[], size: CalibrationSize): Promise<Calibration> {
  const opened: (() => Promise<void>)[] = [];
  try {
    const loads: Load[] = [];
    for (const bytesMax of size.containerBytes) {
      for (const { backend, driver } of [MEMORY, ...providers.map(storeSide)]) {
        const side = await containerLoads({ backend, driver: driver(`calibration${bytesMax ?? 0}`), bytesMax }, size);
        opened.push(side.close);
        loads.push(...side.loads);
      }
    }
    for (const bench of providers) {
      const side = {
        provider: bench.provider,
        baseline: bench.baseline(),
        conditional: bench.conditional(CALIBRATION),
      };
      loads.push(...(await plainLoads(side, size.records)));
    }
    const measured = await measureAll(loads, size);
    const each = providers.map(({ provider }) => ({ provider, ...costsOf(provider, measured) }));
    const costs = Object.fromEntries(each.map((one) => [one.provider, one.costs])) as Record<Provider, ProcessorCosts>;
    return { rounds: size.rounds, costs, loads: [...engineLoads(measured), ...each.flatMap((one) => one.loads)] };
  } finally {
    for (const close of opened) await close();
  }
}

function storeSide(bench: BenchProvider): StoreAt {
  return { backend: bench.provider, driver: (space) => bench.driver(space) };
}

const MEMORY: StoreAt = { backend: 'memory', driver: () => memoryDriver({ faults: inTheNextTurn }) };

/** As a socket's replies do: else 32 callers would never be in flight together. */
async function inTheNextTurn(): Promise<undefined> {
  await nextTurn();
}

/** Where this store is measured, in a space of each driver's own. */
interface StoreAt {
  readonly backend: Backend;
  readonly driver: (space: string) => Driver;
}

interface Tally {
  readonly load: Load;
  readonly rounds: number[];
  readonly uses: DriverUse[];
}

/** A turn to warm up, the rounds, and half as many once more of the loads whose rounds are far apart. */
async function measureAll(loads: readonly Load[], size: CalibrationSize): Promise<Measured[]> {
  const { processorMs, rounds, signal, log } = size;
  const turn: Turn = { processorMs, worksMin: 3, signal };
  const tallies = loads.map((load): Tally => ({ load, rounds: [], uses: [] }));
  log(`${loads.length} loads, warming up ...`);
  for (const { work, inFlight } of loads) await spend(work, inFlight, turn);
  for (let round = 1; round <= rounds; round += 1) {
    for (const tally of tallies) await measure(tally, turn);
    log(`round ${round} of ${rounds}`);
  }
  const unsteady = tallies.filter((tally) => spreadOf(tally.rounds) > SPREAD_MAX);
  log(`${unsteady.length} loads with a spread above ${SPREAD_MAX * 100} %, once more ...`);
  for (let more = 0; more < rounds / 2; more += 1) for (const tally of unsteady) await measure(tally, turn);
  return tallies.map(asMeasured);
}

async function measure({ load, rounds, uses }: Tally, turn: Turn): Promise<void> {
  const before = load.use?.();
  const { operations, microseconds } = await spend(load.work, load.inFlight, turn);
  rounds.push(microseconds / operations);
  if (before !== undefined) uses.push(usePer(operations, before, load.use!()));
}

function spreadOf(rounds: readonly number[]): number {
  return (Math.max(...rounds) - Math.min(...rounds)) / median(rounds);
}

function asMeasured({ load: { backend, kind, inFlight }, rounds, uses }: Tally): Measured {
  return { backend, kind, inFlight, rounds, use: uses.length === 0 ? undefined : meanUse(uses) };
}

function meanUse(uses: readonly DriverUse[]): DriverUse {
  const names = Object.keys(uses[0]!) as (keyof DriverUse)[];
  const mean = (name: keyof DriverUse): number => uses.reduce((sum, use) => sum + use[name], 0) / uses.length;
  return Object.fromEntries(names.map((name) => [name, mean(name)])) as unknown as DriverUse;
}
