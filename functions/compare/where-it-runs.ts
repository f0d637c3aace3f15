// Where this function runs, as far as it knows by itself. Each cloud's entry adds its facts.
import { readFileSync } from 'node:fs';
import os from 'node:os';
import * as z from 'zod';
import type { Place } from '../../shared/lab/load/cell.ts';
import type { CellTargets } from '../../shared/lab/load/targets.ts';
import { processorTimes } from './processor.ts';

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
