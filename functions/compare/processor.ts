// Times that Linux tells of this process's first thread, which runs the function, and the machine.
import { readFileSync } from 'node:fs';
import type { ProcessorTimes, ThreadTimes } from '../../shared/lab/load/targets.ts';

/** Linux counts machine time in ticks of a hundredth of a second, whatever its own clock does. */
const TICK_MS = 10;

const NANOSECONDS_PER_MS = 1_000_000;

/**
 * Undefined on systems other than Linux, and in sandboxes that hide these files. `emulatorProcess`:
 * its id, where the service is an emulator on this machine.
 */
export function processorTimes(emulatorProcess?: string): ProcessorTimes | undefined {
  try {
    const times = timesOf(readFileSync('/proc/self/schedstat', 'utf8'), readFileSync('/proc/stat', 'utf8'));
    return times && { ...times, emulator: emulatorProcess === undefined ? undefined : threadTimes(emulatorProcess) };
  } catch {
    return undefined;
  }
}

/** `schedstat` has ns run, ns waited, slices; `stat` ticks, where kinds after steal count twice. */
export function timesOf(schedstat: string, stat: string): Omit<ProcessorTimes, 'emulator'> | undefined {
  const [ran, waited] = numbersOf(schedstat);
  const ticks = numbersOf(stat.split('\n', 1)[0]!).slice(1, 9);
  const stolen = ticks[7];
  if (ran === undefined || waited === undefined || stolen === undefined || Number.isNaN(ran + waited + stolen))
    return undefined;
  return {
    ranMs: ran / NANOSECONDS_PER_MS,
    waitedMs: waited / NANOSECONDS_PER_MS,
    machineMs: ticks.reduce((sum, one) => sum + one, 0) * TICK_MS,
    stolenMs: stolen * TICK_MS,
  };
}

function threadTimes(process: string): ThreadTimes | undefined {
  const [ran, waited] = numbersOf(readFileSync(`/proc/${process}/schedstat`, 'utf8'));
  if (ran === undefined || waited === undefined) return undefined;
  return { ranMs: ran / NANOSECONDS_PER_MS, waitedMs: waited / NANOSECONDS_PER_MS };
}

function numbersOf(line: string): number[] {
  return line.trim().split(/\s+/).map(Number);
}
