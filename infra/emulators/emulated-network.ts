// The network before an emulator: the option `--network`, and the slow cloud that tells emulators
// when their answers are due.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../cli/command-options.ts';
import {
  AZURE_TABLES_PROFILE,
  DATASTORE_PROFILE,
  evenly,
  type SlowProfile,
} from '../../shared/drivers/slow/profiles.ts';
import { SlowCloud } from '../../shared/drivers/slow/slow-cloud.ts';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import { seededRandom } from '../../shared/lab/kit/random.ts';
import type { Runtime } from '../../shared/store/index.ts';

/** How late answers are, as the option names it, and of each service. */
export interface Network {
  readonly name: string;
  readonly profiles: Readonly<Record<Provider, SlowProfile>>;
}

const CLOUD: Network['profiles'] = { datastore: DATASTORE_PROFILE, 'azure-tables': AZURE_TABLES_PROFILE };

/** Without a network nothing is late, but a partition has its limit. */
export const NO_NETWORK: Network = { name: 'none', profiles: evenProfiles(0) };

/** The n-th request of every run takes the same draw. */
const SEED = 1;
const MS_MOST = 10_000;

export const NETWORK = {
  value: 'cloud|none|Nms|FILES',
  help: 'how late the emulators answer: as their services do, at once, by a median of N ms, as in 25ms, or as reports of stowage doctor say, as in a.json,b.json',
} as const;

/** Reads the files, where it names some. Throws a UsageError. */
export function networkOf(text: string): Network {
  if (text === 'none') return NO_NETWORK;
  if (text === 'cloud') return { name: text, profiles: CLOUD };
  if (text.endsWith('.json')) {
    const reports = text
      .split(',')
      .map(reportIn)
      .map(({ provider, profile }) => [provider, profile]);
    return { name: text, profiles: { ...CLOUD, ...Object.fromEntries(reports) } };
  }
  const ms = Number(/^(\d+(?:\.\d+)?)ms$/.exec(text)?.[1]);
  if (ms > 0 && ms <= MS_MOST) return { name: `${ms}ms`, profiles: evenProfiles(ms) };
  throw new UsageError(
    `--network takes cloud, none, or a round trip of more than 0 and at most ${MS_MOST} ms such as 25ms, or reports of stowage doctor (*.json), not ${text}`,
  );
}

function evenProfiles(ms: number): Network['profiles'] {
  return { datastore: evenly(ms, DATASTORE_PROFILE), 'azure-tables': evenly(ms, AZURE_TABLES_PROFILE) };
}

interface DoctorReport {
  readonly provider: Provider;
  readonly profile: SlowProfile;
}

/** Throws a UsageError if the file is no report, or has no times. */
function reportIn(file: string): DoctorReport {
  let cause: unknown;
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as DoctorReport;
    const { read, query, commit, sigma } = report.profile;
    if ([read, query, commit].every(({ ms }) => ms > 0) && sigma >= 0 && report.provider in CLOUD) return report;
  } catch (error) {
    cause = error;
  }
  throw new UsageError(`--network: ${file} is no report of stowage doctor with a profile`, { cause });
}

/** Waits whole milliseconds: a timer rounds down, and one that fires early needs a second one. */
export const TIMERS: Pick<Runtime, 'monotonicMs' | 'sleep'> = {
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(Math.ceil(ms), undefined, signal && { signal }).catch(() => {}),
};

export function slowCloud(profile: SlowProfile, runtime = TIMERS): SlowCloud {
  return new SlowCloud(profile, runtime, seededRandom(SEED));
}
