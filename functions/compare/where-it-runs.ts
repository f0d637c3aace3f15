// Where this function runs, as far as it knows by itself. Each cloud's entry adds its facts.
import { readFileSync } from 'node:fs';
import os from 'node:os';
import * as z from 'zod';
import type { Place } from '../../shared/lab/load/cell.ts';
import type { CellTargets, ProcessorTimes, ThreadTimes } from '../../shared/lab/load/targets.ts';

type Fact = 'provider' | 'platform' | 'backend' | 'isEmulator' | 'region' | 'instanceId' | 'memoryBytes';

/** Facts that only the cloud's entry knows. If `memoryBytes` is null, the system's limit counts. */
export type PlatformFacts = Pick<Place, Fact>;

const buildSchema = z.object({ commit: z.string().nullable(), versions: z.record(z.string(), z.string()) });

/** Packaging writes it beside the page. */
const BUILD_FILE = '../compare/build.json';

/** `entryUrl`: the entry's module, beside which a package has its files. */
export function placeOf(facts: PlatformFacts, entryUrl: string): Place {
  const [first] = os.cpus();
  return {
    ...facts,
    memoryBytes: facts.memoryBytes ?? memoryLimit(),
    processors: os.availableParallelism(),
    processorModel: first?.model.trim() ?? 'unknown',
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    runtime: `Node.js ${process.versions.node}`,
    ...buildFacts(entryUrl),
  };
}

/** Memory that the container allows, or the machine has. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < os.totalmem() ? limit : os.totalmem();
}

/** Unknown if the function runs from its sources. */
function buildFacts(entryUrl: string): Pick<Place, 'commit' | 'versions'> {
  let text: string;
  try {
    text = readFileSync(new URL(BUILD_FILE, entryUrl), 'utf8');
  } catch {
    return { commit: null, versions: {} };
  }
  return buildSchema.parse(JSON.parse(text));
}

let hasRun = false;

export const instance: CellTargets['instance'] = {
  takeCold: () => {
    const isCold = !hasRun;
    hasRun = true;
    return isCold;
  },
  uptimeMs: () => process.uptime() * 1_000,
  memoryBytes: () => process.memoryUsage.rss(),
  processorUs: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  processorTimes: () => processorTimes(process.env['STOWAGE_BACKEND_PROCESS']),
};

/** Linux counts machine time in ticks of a hundredth of a second, whatever its own clock does. */
const TICK_MS = 10;

const NANOSECONDS_PER_MS = 1_000_000;

/**
 * Undefined on systems other than Linux, and in sandboxes that hide these files. `emulatorProcess`:
 * its id, where the service is an emulator on this machine.
 */
function processorTimes(emulatorProcess?: string): ProcessorTimes | undefined {
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
