// An invented provider that never throttles, loses or contends, to test one mechanism at a time.
import { guessed } from '../../../../shared/lab/cloud/data/figures.ts';
import {
  type Figure,
  NO_LIMIT,
  type ParameterName,
  type ProviderData,
} from '../../../../shared/lab/cloud/data/parameters.ts';

type TimeName = 'baseMs' | 'perEntityMs' | 'perKibMs' | 'sigma';

const VALUES: Readonly<Record<ParameterName, number>> = {
  'network.oneWayMs.median': 0.5,
  'network.oneWayMs.sigma': 0.2,
  ...timesOf('get', 4),
  ...timesOf('getMany', 5),
  ...timesOf('commit', 6),
  ...timesOf('transaction', 8),
  ...timesOf('list', 8),
  ...timesOf('query', 8),
  'commit.perIndexRowMs': 0,
  'batch.exponent': 1,
  'tail.share': 0,
  'tail.factor': 1,
  'effect.share': 0.5,
  'loss.requestShare': 0,
  'loss.replyShare': 0,
  'loss.silentShare': 0,
  'contention.holdShare': 0,
  'contention.waitMaxMs': 10_000,
  'contention.writesPerSecond': NO_LIMIT,
  'contention.burstWrites': 1,
  'partition.unitsPerSecond': NO_LIMIT,
  'partition.burstSeconds': 1,
  'partition.serialMsPerEntity': 0,
  'account.unitsPerSecond': NO_LIMIT,
  'account.burstSeconds': 1,
  'unit.kib': 1_024,
  'throttle.replyMs': 1,
  'ramp.isCold': 0,
  'ramp.startPerSecond': NO_LIMIT,
  'ramp.growth': 1.5,
  'ramp.everyMs': 300_000,
  'ramp.waitMaxMs': 1_000,
  'range.count': 1,
  'range.writesPerSecond': NO_LIMIT,
  'range.waitMaxMs': 1_000,
  'range.splitAfterMs': 300_000,
  'sdk.timeoutMs': 60_000,
  'sdk.readRetriesMax': 3,
  'sdk.writeRetriesMax': 0,
  'sdk.retryBaseMs': 100,
  'sdk.retryFactor': 2,
  'sdk.retryDelayMaxMs': 10_000,
};

function timesOf<K extends string>(kind: K, baseMs: number): Record<`${K}.${TimeName}`, number> {
  const times: Record<TimeName, number> = { baseMs, perEntityMs: 0.05, perKibMs: 0.01, sigma: 0.6 };
  const named = Object.entries(times).map(([name, value]) => [`${kind}.${name}`, value]);
  return Object.fromEntries(named) as Record<`${K}.${TimeName}`, number>;
}

/** Named after the provider whose requests and limits it has. */
export function calmProvider(provider: ProviderData['provider']): ProviderData {
  const figures = Object.entries(VALUES).map(([name, value]): [string, Figure] => [
    name,
    guessed(value, 'made up', [value, value]),
  ]);
  return {
    name: `calm-${provider}`,
    date: '2026-11',
    provider,
    figures: Object.fromEntries(figures) as Record<ParameterName, Figure>,
  };
}
