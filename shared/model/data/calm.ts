// A made-up provider whose answers take one lognormal distribution: for tests of what stands on the model.
import type { Figure, ParameterName, ProviderData } from './parameters.ts';

const VALUES: Readonly<Record<ParameterName, number>> = {
  'network.oneWayMs.median': 0.5,
  'network.oneWayMs.sigma': 0.2,
  ...kind('get', 4),
  ...kind('getMany', 5),
  ...kind('commit', 6),
  ...kind('transaction', 8),
  ...kind('list', 8),
  ...kind('query', 8),
  'tail.share': 0,
  'tail.factor': 1,
  'loss.requestShare': 0,
  'loss.replyShare': 0,
};

function kind<K extends string>(name: K, baseMs: number) {
  return {
    [`${name}.baseMs`]: baseMs,
    [`${name}.perEntityMs`]: 0.05,
    [`${name}.perKibMs`]: 0.01,
    [`${name}.sigma`]: 0.6,
  } as Record<`${K}.${'baseMs' | 'perEntityMs' | 'perKibMs' | 'sigma'}`, number>;
}

/** A provider that never throttles, loses nothing and knows no contention. */
export function calmProvider(provider: ProviderData['provider']): ProviderData {
  const figures = Object.fromEntries(
    Object.entries(VALUES).map(([name, value]): [string, Figure] => [
      name,
      { low: value, middle: value, high: value, grade: 'guessed', source: 'made up for tests' },
    ]),
  ) as Record<ParameterName, Figure>;
  return { name: `calm-${provider}`, date: '2026-11', provider, figures };
}
