// 100 requests of each kind on an account, one after another, and the rows of the model's table
// (shared/lab/cloud/data) that come of them.
import { AZURE_TABLES_2026_11 } from '../../../../shared/lab/cloud/data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../../../../shared/lab/cloud/data/datastore-2026-11.ts';
import { billOf } from '../../../../shared/lab/cost/bill.ts';
import { PRICES_2026_11 } from '../../../../shared/lab/cost/prices-2026-11.ts';
import { figureOf } from '../../../../shared/lab/kit/figure.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { decimal, dollars } from '../../../../shared/lab/kit/format.ts';
import { afterCalls, closedLoop } from '../../../../shared/lab/load/closed-loop.ts';
import { spentOn } from '../../../../shared/lab/load/spent.ts';
import { placeOf } from '../../../../shared/lab/work/baseline.ts';
import { type Account, DATASET } from './account.ts';
import { type Probe, probesOf } from './probes.ts';

const TIME_MAX_MS = 600_000;
const REMOVAL_MAX_MS = 60_000;
const DATA = { datastore: DATASTORE_2026_11, 'azure-tables': AZURE_TABLES_2026_11 };

/** A probe, and how long each of its requests took, in milliseconds, as its caller saw it. */
export interface Sample extends Omit<Probe, 'send'> {
  readonly timesMs: readonly number[];
}

/**
 * Sends `times` requests of each probe, for ten minutes at most; tells first their cost, and
 * removes all it made. Rejects with the first failure, or the signal's reason.
 */
export async function measureRequests(
  account: Account,
  {
    times,
    signal,
    log,
  }: { readonly times: number; readonly signal: AbortSignal; readonly log: (line: string) => void },
): Promise<Sample[]> {
  const { baseline, driver } = account;
  const { prepare, probes } = probesOf(account, times);
  const bill = `some $${dollars(costOf(baseline.provider, probes, times))} by list prices`;
  log(`${times * probes.length} requests, ${bill}, in ${placeOf(DATASET)}, which is removed afterwards ...`);
  const ended = AbortSignal.any([signal, AbortSignal.timeout(TIME_MAX_MS)]);
  const samples: Sample[] = [];
  try {
    await prepare();
    for (const { send, ...probe } of probes) {
      const timesMs: number[] = [];
      await closedLoop(1, afterCalls(times), async () => {
        ended.throwIfAborted();
        timesMs.push((await spentOn(() => send(timesMs.length))).wallMs);
      });
      samples.push({ ...probe, timesMs });
    }
    return samples;
  } finally {
    await baseline.remove(DATASET, AbortSignal.timeout(REMOVAL_MAX_MS)).catch((error: unknown) => {
      log(`${placeOf(DATASET)} is left behind, to be removed by hand: ${String(error)}`);
    });
    await Promise.all([driver.close(), baseline.close()]);
  }
}

/**
 * Dollars, by the prices of the provider's first region, without what is free; what is made
 * beforehand and removed afterwards counts as one probe.
 */
function costOf(provider: Provider, probes: readonly Probe[], times: number): number {
  const quantities = { reads: 0, writes: times, deletes: 2 * times };
  for (const { billed, entities } of probes) quantities[billed] += times * (provider === 'datastore' ? entities : 1);
  return billOf(quantities, PRICES_2026_11, provider, PRICES_2026_11.providers[provider].regions[0].region).dollars;
}

/** `get: 100 requests, p50 7.91, p95 9.80, p99 14.1 ms`. */
export function textOf({ name, timesMs }: Sample): string {
  const times = [0.5, 0.95, 0.99].map((share) => `p${100 * share} ${decimal(quantile(timesMs, share))}`);
  return `${name}: ${timesMs.length} requests, ${times.join(', ')} ms`;
}

/** The least of the values that at least this share of them is not above. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(share * values.length) - 1]!;
}

/**
 * Lines for the provider's data file: base times without the network's two ways, entities, KiB, and
 * spread (16th to 84th percentile). Ranges are 95 % intervals. `where`: day and place.
 */
export function rowsOf(provider: Provider, samples: readonly Sample[], where: string): string {
  const waysMs = 2 * DATA[provider].figures['network.oneWayMs.median'].middle;
  const lines: string[] = [];
  for (const [kind, some] of Map.groupBy(samples, (sample) => sample.kind)) {
    const sorted = some.toSorted((one, other) => one.entities - other.entities);
    const [small, most] = [sorted[0]!, sorted.at(-1)!];
    const large = sorted.find(({ bytes }) => bytes > small.bytes);
    const add = (part: string, range: readonly number[], sample: Sample): void => {
      const [low, middle, high] = range.map((value) => Number(Math.max(0, value).toPrecision(2)));
      lines.push(`    '${kind}.${part}': measured(${middle}, '${where}: ${textOf(sample)}', [${low}, ${high}]),`);
    };
    const perEntity = more(small, most, most.entities - small.entities);
    const { low, median, high } = figureOf(small.timesMs);
    add(
      'baseMs',
      [low, median, high].map((ms) => ms - waysMs - perEntity[1]! * (small.entities - 1)),
      small,
    );
    if (most.entities > small.entities) add('perEntityMs', perEntity, most);
    if (large !== undefined) add('perKibMs', more(small, large, (large.bytes - small.bytes) / 1_024), large);
    const [early, middle, late] = [0.16, 0.5, 0.84].map((share) => Math.log(quantile(small.timesMs, share)));
    const [less, wider] = [middle! - early!, late! - middle!].toSorted((one, other) => one - other);
    add('sigma', [less!, (late! - early!) / 2, wider!], small);
  }
  return lines.join('\n');
}

/** The addition of each more: lowest, middle, highest. */
function more({ timesMs }: Sample, larger: Sample, count: number): number[] {
  const [one, other] = [figureOf(timesMs), figureOf(larger.timesMs)];
  const ms = [other.low - one.high, other.median - one.median, other.high - one.low];
  return ms.map((each) => (count === 0 ? 0 : each / count));
}
