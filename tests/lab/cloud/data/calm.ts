// An invented provider without network, spread, loss and contention: a test adds one.
import { DATASTORE_2026_11 } from '../../../../shared/lab/cloud/data/datastore-2026-11.ts';
import { guessed } from '../../../../shared/lab/cloud/data/figures.ts';
import {
  type Figure,
  namesOf,
  NO_LIMIT,
  type ParameterName,
  type ProviderData,
} from '../../../../shared/lab/cloud/data/parameters.ts';

/** Rates have no limit, and other numbers are 0, if they are not named here. */
const VALUES: Readonly<Record<string, number>> = {
  'get.baseMs': 4,
  'getMany.baseMs': 5,
  'commit.baseMs': 6,
  'transaction.baseMs': 8,
  'list.baseMs': 8,
  'batch.exponent': 1,
  'tail.factor': 1,
  'effect.share': 0.5,
  'contention.waitMaxMs': 10_000,
  'contention.burstWrites': 1,
  'partition.burstSeconds': 1,
  'account.burstSeconds': 1,
  'unit.kib': 1_024,
  'throttle.replyMs': 1,
  'ramp.growth': 1.5,
  'ramp.everyMs': 300_000,
  'ramp.waitMaxMs': 1_000,
  'range.count': 1,
  'range.waitMaxMs': 1_000,
  'range.splitAfterMs': 300_000,
  'sdk.timeoutMs': 60_000,
  'sdk.readRetriesMax': 3,
  'sdk.retryBaseMs': 100,
  'sdk.retryFactor': 2,
  'sdk.retryDelayMaxMs': 10_000,
};

/** Named after the provider whose requests and limits it has. */
export function calmProvider(provider: ProviderData['provider']): ProviderData {
  const figures = namesOf(DATASTORE_2026_11).map((name): [string, Figure] => {
    const value = VALUES[name] ?? (name.endsWith('PerSecond') ? NO_LIMIT : 0);
    return [name, guessed(value, 'made up', [value, value])];
  });
  const all = Object.fromEntries(figures) as Record<ParameterName, Figure>;
  return { name: `calm-${provider}`, date: '2026-11', provider, figures: all };
}
