// `stowage cost`: what a table would be billed for a month on both clouds, in three layouts, by a
// dated price list. It asks no cloud.
import { PROVIDERS, type Provider } from '../../shared/lab/kit/dimensions.ts';
import { assumptionsOf, type Estimate, estimateOf } from '../../shared/lab/cost/estimate.ts';
import { PRICES_2026_11 } from '../../shared/lab/cost/prices-2026-11.ts';
import type { PriceList } from '../../shared/lab/cost/prices.ts';
import { type Calls, INSTANCE, type Workload } from '../../shared/lab/cost/workload.ts';
import { assumptionsText, estimateText } from './cost-text.ts';
import { choice, command, type CommandLine, count, positiveNumber, UsageError } from './options.ts';

const LIST: PriceList = PRICES_2026_11;

/** The library takes no more in a record. */
const RECORD_BYTES_MAX = 512 * 1_024;
/** The functions take no more operations in a call. */
const BATCH_MAX = 1_000;
/** Cloud Run gives an instance no more requests at a time. */
const CONCURRENCY_MAX = 1_000;
/** Cloud Run starts no more of a function without asking. */
const INSTANCES_MAX = 1_000;
/** Above all that is stored or asked anywhere, and far below what a number holds exactly. */
const COUNT_MAX = 1e12;
/** Cloud Run answers within an hour. */
const CALL_MS_MAX = 3_600_000;

export const COST = command({
  name: 'stowage cost',
  about: `Estimates a month's bill of a table on both clouds: operations, storage, compute and egress, for an entity a
record, for the SDK's batches and for this store's containers. Nothing runs and nothing is asked: dollars are list
prices of ${LIST.date}, line by line, with free tiers apart and with all that is taken for granted.
Counts are digits, or like 2.5e6.`,
  options: {
    records: { value: 'N', help: 'records in the table; it must be given' },
    bytes: { value: 'B', help: 'bytes of a record, key and value; it must be given' },
    'reads-per-day': { value: 'N', default: '0', help: 'records read by key' },
    'writes-per-day': { value: 'N', default: '0', help: 'records written' },
    'deletes-per-day': { value: 'N', default: '0', help: 'records deleted' },
    'scans-per-day': { value: 'N', default: '0', help: 'scans of the whole table' },
    batch: { value: 'N', default: '1', help: 'records that a call reads, writes or deletes' },
    keys: { value: 'random|together', default: 'random', help: 'where the records of a call lie in the table' },
    concurrency: {
      value: 'N',
      default: String(INSTANCE.concurrency),
      help: 'calls that an instance answers at a time',
    },
    instances: { value: 'N', help: 'instances that write at a time; left out, as few as take the calls' },
    'call-ms': { value: 'MS', help: 'how long a call takes; left out, as on emulators' },
    cloud: { value: 'gcp|azure|both', default: 'both', help: 'whose bill' },
    region: { value: 'NAMES', help: `one a cloud, with a comma between; left out, the first: ${regionNames()}` },
    json: { help: 'one object, unrounded, with prices and sources' },
  },
  examples: [
    'stowage cost --records 1e6 --bytes 500 --reads-per-day 1e6 --writes-per-day 1e5',
    'stowage cost --records 1e9 --bytes 200 --writes-per-day 1e8 --batch 500 --keys together --cloud gcp',
    'stowage cost --records 50000 --bytes 2000 --scans-per-day 24 --region nam5,austriaeast --json',
  ],
});

function regionNames(): string {
  return PROVIDERS.map((provider) => LIST.providers[provider].regions.map(({ region }) => region).join(', ')).join(
    '; ',
  );
}

/** The question on the command line. */
export interface CostQuestion {
  readonly workload: Workload;
  readonly calls: Calls;
  readonly regions: readonly (readonly [Provider, region: string])[];
}

/** Throws a UsageError. */
export function costQuestionOf({ values }: CommandLine<typeof COST.options>): CostQuestion {
  return {
    workload: {
      records: count('--records', given('--records', values.records), 1, COUNT_MAX),
      recordBytes: count('--bytes', given('--bytes', values.bytes), 1, RECORD_BYTES_MAX),
      readsPerDay: count('--reads-per-day', values['reads-per-day'], 0, COUNT_MAX),
      writesPerDay: count('--writes-per-day', values['writes-per-day'], 0, COUNT_MAX),
      deletesPerDay: count('--deletes-per-day', values['deletes-per-day'], 0, COUNT_MAX),
      scansPerDay: count('--scans-per-day', values['scans-per-day'], 0, COUNT_MAX),
    },
    calls: {
      recordsPerCall: count('--batch', values.batch, 1, BATCH_MAX),
      keys: choice('--keys', values.keys, ['random', 'together']),
      concurrency: count('--concurrency', values.concurrency, 1, CONCURRENCY_MAX),
      instances: values.instances === undefined ? undefined : count('--instances', values.instances, 1, INSTANCES_MAX),
      durationMs:
        values['call-ms'] === undefined ? undefined : positiveNumber('--call-ms', values['call-ms'], CALL_MS_MAX),
    },
    regions: regionsOf(choice('--cloud', values.cloud, ['gcp', 'azure', 'both']), values.region),
  };
}

function given(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${option} is missing`);
  return value;
}

/** Each cloud's default region, but for those that are named. */
function regionsOf(cloud: 'gcp' | 'azure' | 'both', named: string | undefined): [Provider, string][] {
  const providers: readonly Provider[] =
    cloud === 'both' ? PROVIDERS : [cloud === 'gcp' ? 'datastore' : 'azure-tables'];
  const regions = new Map<Provider, string>();
  for (const name of named?.split(',') ?? []) {
    const provider = providers.find((one) => LIST.providers[one].regions.some(({ region }) => region === name));
    if (provider === undefined)
      throw new UsageError(`--region has no prices for ${JSON.stringify(name)} here; there are ${regionNames()}`);
    const other = regions.get(provider);
    if (other !== undefined) throw new UsageError(`--region names two regions of one cloud: ${other}, ${name}`);
    regions.set(provider, name);
  }
  return providers.map((provider) => [provider, regions.get(provider) ?? LIST.providers[provider].regions[0].region]);
}

/** The printed text, without a line's end. */
export function costText(question: CostQuestion): string {
  return [
    ...estimatesOf(question).map((one) => estimateText(one, LIST)),
    assumptionsText(assumptionsOf(LIST, question.calls)),
  ].join('\n\n');
}

/** The object that `--json` prints. */
export function costJson(question: CostQuestion): object {
  const { workload, calls } = question;
  return {
    date: LIST.date,
    workload,
    calls: { ...calls, instances: calls.instances ?? null, durationMs: calls.durationMs ?? null },
    estimates: estimatesOf(question).map((one) => ({
      ...one,
      prices: LIST.providers[one.provider].regions.find(({ region }) => region === one.region)?.prices,
      free: LIST.providers[one.provider].free,
    })),
    assumptions: assumptionsOf(LIST, calls),
  };
}

function estimatesOf({ workload, calls, regions }: CostQuestion): Estimate[] {
  return regions.map(([provider, region]) => estimateOf(LIST, region, { provider, workload, calls }));
}
