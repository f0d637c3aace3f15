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

/**
 * How late answers are: `cloud` as the service's, `25ms` by this median, `a.json,b.json` as in
 * these reports of `stowage doctor`.
 */
export type Network = 'none' | 'cloud' | `${number}ms` | `${string}.json`;

const PROFILES: Readonly<Record<Provider, SlowProfile>> = {
  datastore: DATASTORE_PROFILE,
  'azure-tables': AZURE_TABLES_PROFILE,
};

/** The n-th request of every run takes the same draw. */
const SEED = 1;
const MS_MOST = 10_000;

export const NETWORK = {
  value: 'cloud|none|Nms|FILES',
  help: 'how late the emulators answer: as their services do, at once, by a median of N ms, as in 25ms, or as reports of stowage doctor say, as in a.json,b.json',
} as const;

/** Throws a UsageError. */
export function networkOf(text: string): Network {
  if (text === 'none' || text === 'cloud') return text;
  if (isFiles(text)) {
    reportsIn(text);
    return text;
  }
  const [, ms] = /^(\d+(?:\.\d+)?)ms$/.exec(text) ?? [];
  if (ms === undefined || Number(ms) <= 0 || Number(ms) > MS_MOST)
    throw new UsageError(
      `--network takes cloud, none, or a round trip of more than 0 and at most ${MS_MOST} ms such as 25ms, or reports of stowage doctor (*.json), not ${text}`,
    );
  return `${Number(ms)}ms`;
}

/** Without a network nothing is late, but a partition has its limit. */
export function profileOf(network: Network, provider: Provider): SlowProfile {
  const profile = PROFILES[provider];
  if (network === 'cloud') return profile;
  if (isFiles(network)) return reportsIn(network).find((report) => report.provider === provider)?.profile ?? profile;
  return evenly(network === 'none' ? 0 : Number.parseFloat(network), profile);
}

function isFiles(text: string): text is `${string}.json` {
  return text.endsWith('.json');
}

interface DoctorReport {
  readonly provider: Provider;
  readonly profile: SlowProfile;
}

function reportsIn(files: string): DoctorReport[] {
  return files.split(',').map(reportIn);
}

/** Throws a UsageError if the file is no report, or has no times. */
function reportIn(file: string): DoctorReport {
  let cause: unknown;
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as DoctorReport;
    const { read, query, commit, sigma } = report.profile;
    if ([read, query, commit].every(({ ms }) => ms > 0) && sigma >= 0 && report.provider in PROFILES) return report;
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
