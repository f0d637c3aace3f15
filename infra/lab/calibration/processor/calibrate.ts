// Processor time of each layout's client. A turn ends by it, so other programs cost it nothing.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryDriver } from '../../../../shared/drivers/memory.ts';
import type { ProcessorCosts, ProcessorTable } from '../../../../shared/lab/cloud/data/processor.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { increase, sumOf } from '../../../../shared/lab/kit/usage.ts';
import type { IsOver } from '../../../../shared/lab/load/closed-loop.ts';
import { PROCESS_CLOCKS } from '../../../../shared/lab/load/spent.ts';
import type { Driver } from '../../../../shared/store/index.ts';
import { takeTurn } from '../../bench/contest/turn.ts';
import type { BenchProvider } from '../../providers.ts';
import { costsOf, engineLoads, type Measured, type MeasuredLoad } from './costs.ts';
import type { DriverUse } from './counted.ts';
import { containerLoads, type Load, plainLoads } from './loads.ts';

/** Calls of a turn at least, so that a slow one is not measured once. */
const CALLS_MIN = 3;

export interface CalibrationSize {
  /** Records in each table; 500 at least. */
  readonly records: number;
  /** Entity sizes at which containers are kept, in bytes; undefined: the provider's own limit. */
  readonly containerBytes: readonly (number | undefined)[];
  readonly callers: readonly number[];
  readonly rounds: number;
  /** Processor time of one turn. */
  readonly processorMs: number;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** The table without its circumstances, and the loads that it was made of. */
export interface Calibration extends Pick<ProcessorTable, 'rounds' | 'costs'> {
  readonly loads: readonly MeasuredLoad[];
}

/** In rounds that each pass all loads. Closes what it opens, not the providers. */
export async function calibrate(providers: readonly BenchProvider[], size: CalibrationSize): Promise<Calibration> {
  const opened: (() => Promise<void>)[] = [];
  try {
    const loads: Load[] = [];
    for (const bytesMax of size.containerBytes) {
      const stores = providers.map((bench) => {
        return { backend: bench.provider, driver: bench.driver(`calibration${bytesMax ?? 0}`) };
      });
      for (const on of [{ backend: 'memory' as const, driver: memory() }, ...stores]) {
        const side = await containerLoads(on, { ...size, bytesMax });
        opened.push(side.close);
        loads.push(...side.loads);
      }
    }
    for (const bench of providers) loads.push(...(await plainLoads(bench.provider, bench.baseline(), size.records)));
    const measured = await measureAll(loads, size);
    const each = providers.map(({ provider }) => ({ provider, ...costsOf(provider, measured) }));
    const costs = Object.fromEntries(each.map((one) => [one.provider, one.costs])) as Record<Provider, ProcessorCosts>;
    return { rounds: size.rounds, costs, loads: [...engineLoads(measured), ...each.flatMap((one) => one.loads)] };
  } finally {
    for (const close of opened) await close();
  }
}

/** Answers in the next turn of the event loop, as sockets do: else callers were never together. */
function memory(): Driver {
  return memoryDriver({ faults: () => nextTurn(undefined) });
}

interface Tally {
  readonly load: Load;
  /** Microseconds an operation, of each turn. */
  readonly rounds: number[];
  operations: number;
  /** One for each turn; the plain SDK has none. */
  readonly uses: DriverUse[];
}

async function measureAll(
  loads: readonly Load[],
  { processorMs, rounds, signal, log }: CalibrationSize,
): Promise<Measured[]> {
  const tallies = loads.map((load): Tally => ({ load, rounds: [], operations: 0, uses: [] }));
  const measure = async (tally: Tally): Promise<void> => {
    signal.throwIfAborted();
    const { work, inFlight, use } = tally.load;
    const before = use?.();
    const { records, processorUs } = await takeTurn(work, inFlight, afterSpending(1_000 * processorMs));
    tally.rounds.push(processorUs / records);
    tally.operations += records;
    if (before !== undefined) tally.uses.push(increase(before, use!()));
  };
  log(`${loads.length} loads, warming up ...`);
  for (const { work, inFlight } of loads) await takeTurn(work, inFlight, afterSpending(1_000 * processorMs));
  for (let round = 1; round <= rounds; round += 1) {
    for (const tally of tallies) await measure(tally);
    log(`round ${round} of ${rounds}`);
  }
  return tallies.map(({ load: { backend, kind, inFlight }, rounds: measured, operations, uses }) => {
    const use = uses.length === 0 ? undefined : perOperation(sumOf(uses), operations);
    return { backend, kind, inFlight, rounds: measured, use };
  });
}

function perOperation(use: DriverUse, operations: number): DriverUse {
  return Object.fromEntries(Object.entries(use).map(([name, count]) => [name, count / operations])) as DriverUse;
}

/** Over when this process has had so much of its processors, and three calls have begun. */
function afterSpending(processorUs: number): IsOver {
  let calls = 0;
  let endUs: number | undefined;
  return () => {
    const nowUs = PROCESS_CLOCKS.processorUs();
    endUs ??= nowUs + processorUs;
    calls += 1;
    return calls > CALLS_MIN && nowUs >= endUs;
  };
}
