// What a cell needs from the function that runs it, and whether it had the processor it wanted.
import type { Store } from '../../store/index.ts';
import type { Baseline } from '../work/baseline.ts';
import type { Usage } from '../kit/provider-usage.ts';
import type { CellResult, Place } from './cell.ts';

/** This store, and running totals of what its driver spends. */
export interface ContainerStore {
  readonly store: Store;
  readonly usage: () => Usage;
}

/** The places of datasets. Their maker closes them. */
export interface DatasetTargets {
  /** For the layouts `record` and `batch`. */
  readonly baseline: Baseline;
  /** For the layouts of containers, over this transport; gives the same one each time. */
  readonly openStore: (transport: 'own' | 'sdk') => Promise<ContainerStore>;
}

export interface CellTargets extends DatasetTargets {
  readonly place: Place;
  /** The instance's process as it stands now. */
  readonly instance: {
    /** True until the first cell of this process has been asked for; asking ends it. */
    takeCold(): boolean;
    uptimeMs(): number;
    memoryBytes(): number;
    /** Processor time of the process so far, user and system, all threads, in microseconds. */
    processorUs(): number;
    /** The thread and machine that the cell runs on; undefined if the system does not tell. */
    processorTimes(): ProcessorTimes | undefined;
  };
}

/** Running totals of a thread, in milliseconds. */
export interface ThreadTimes {
  readonly ranMs: number;
  /** It was ready to run, and every processor was busy with something else. */
  readonly waitedMs: number;
}

/** Running totals in milliseconds, of a cell's thread and of its machine. */
export interface ProcessorTimes extends ThreadTimes {
  /** All of the machine's processors, idle time included. */
  readonly machineMs: number;
  /** The part of it that the hypervisor gave to other machines. */
  readonly stolenMs: number;
  /** Of the emulator's thread, where one answers on this machine. */
  readonly emulator: ThreadTimes | undefined;
}

/** Shares between two readings, from 0 to 1 in thousandths; null without both readings. */
export function processorShares(
  before: ProcessorTimes | undefined,
  after: ProcessorTimes | undefined,
  elapsedMs: number,
): CellResult['processor'] {
  if (before === undefined || after === undefined) return { wait: null, stolen: null, busy: null, emulatorBusy: null };
  const waitedMs = after.waitedMs - before.waitedMs;
  const ranMs = after.ranMs - before.ranMs;
  return {
    wait: shareOf(waitedMs, waitedMs + ranMs),
    stolen: shareOf(after.stolenMs - before.stolenMs, after.machineMs - before.machineMs),
    busy: shareOf(ranMs + waitedMs, elapsedMs),
    emulatorBusy: emulatorShare(before.emulator, after.emulator, elapsedMs),
  };
}

function emulatorShare(
  before: ThreadTimes | undefined,
  after: ThreadTimes | undefined,
  elapsedMs: number,
): number | null {
  if (before === undefined || after === undefined) return null;
  return shareOf(after.ranMs - before.ranMs + after.waitedMs - before.waitedMs, elapsedMs);
}

function shareOf(part: number, whole: number): number | null {
  if (whole <= 0) return null;
  return Math.round(Math.min(1, Math.max(0, part / whole)) * 1_000) / 1_000;
}
