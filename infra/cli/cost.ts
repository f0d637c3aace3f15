// `stowage cost`: what a table would be billed for a month on both clouds, in three layouts, by a
// dated price list. It asks no cloud.
import { assumptionsOf, type Bill, type Estimate, estimateOf, type Workload } from '../../shared/lab/cost/estimate.ts';
import { PRICES_2026_11 } from '../../shared/lab/cost/prices-2026-11.ts';
import { type Meter, regionOf, regionText } from '../../shared/lab/cost/prices.ts';
import { PROVIDERS, USERS_LAYOUTS } from '../../shared/lab/kit/dimensions.ts';
import { cents, textTable, wrapped } from '../../shared/lab/kit/figure-format.ts';
import { PROVIDER_NAMES } from '../../shared/lab/report/names.ts';
import { RECORD_BYTES_MAX } from '../../shared/store/index.ts';
import { choice, command, type CommandLine, positiveNumber, UsageError, wholeNumber } from './command-options.ts';

const LIST = PRICES_2026_11;

const REGIONS = PROVIDERS.flatMap((provider) => LIST.providers[provider].regions.map(({ region }) => region));

/** The functions take no more operations in a call. */
const BATCH_MAX = 1_000;
/** Cloud Run starts no more of a function without asking. */
const INSTANCES_MAX = 1_000;
/** More than anybody stores, and far below what a number holds exactly. */
const COUNT_MAX = 1e12;
/** Far more than a round trip around the earth takes. */
const ROUND_TRIP_MS_MAX = 10_000;

export const COST = command({
  name: 'stowage cost',
  about: `Estimates a month's bill of a table on both clouds: operations, storage, compute and egress, for an entity per
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
    instances: { value: 'N', default: '1', help: 'instances that write at a time' },
    'round-trip-ms': { value: 'MS', default: '10', help: 'from the function to the database and back' },
    region: { value: REGIONS.join('|'), help: "whose prices, instead of a cloud's first" },
    json: { help: 'one object, unrounded, with prices and sources' },
  },
  examples: [
    'stowage cost --records 1e6 --bytes 500 --reads-per-day 1e6 --writes-per-day 1e5',
    'stowage cost --records 1e9 --bytes 200 --writes-per-day 1e8 --batch 500 --keys together --instances 4',
    'stowage cost --records 50000 --bytes 2000 --scans-per-day 24 --region nam5 --json',
  ],
});

export interface CostQuestion {
  readonly workload: Workload;
  /** Undefined: each cloud's first. */
  readonly region: string | undefined;
}

/** Throws a UsageError. */
export function costQuestionOf({ values }: CommandLine<typeof COST.options>): CostQuestion {
  return {
    workload: {
      records: wholeNumber('--records', given('--records', values.records), 1, COUNT_MAX),
      recordBytes: wholeNumber('--bytes', given('--bytes', values.bytes), 1, RECORD_BYTES_MAX),
      readsPerDay: wholeNumber('--reads-per-day', values['reads-per-day'], 0, COUNT_MAX),
      writesPerDay: wholeNumber('--writes-per-day', values['writes-per-day'], 0, COUNT_MAX),
      deletesPerDay: wholeNumber('--deletes-per-day', values['deletes-per-day'], 0, COUNT_MAX),
      scansPerDay: wholeNumber('--scans-per-day', values['scans-per-day'], 0, COUNT_MAX),
      recordsPerCall: wholeNumber('--batch', values.batch, 1, BATCH_MAX),
      keys: choice('--keys', values.keys, ['random', 'together']),
      instances: wholeNumber('--instances', values.instances, 1, INSTANCES_MAX),
      roundTripMs: positiveNumber('--round-trip-ms', values['round-trip-ms'], ROUND_TRIP_MS_MAX),
    },
    region: values.region === undefined ? undefined : choice('--region', values.region, REGIONS),
  };
}

function given(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${option} is missing`);
  return value;
}

export function costText(question: CostQuestion): string {
  const assumptions = assumptionsOf(LIST, question.workload).flatMap((one) => wrapped(`- ${one}`));
  const texts = [...estimatesOf(question).map(estimateText), ['What this rests on:', ...assumptions].join('\n')];
  return texts.join('\n\n');
}

export function costJson(question: CostQuestion): object {
  const { workload } = question;
  const estimates = estimatesOf(question).map((one) => {
    const { regions, free } = LIST.providers[one.provider];
    return { ...one, prices: regions.find(({ region }) => region === one.region)?.prices, free };
  });
  return { date: LIST.date, workload, estimates, assumptions: assumptionsOf(LIST, workload) };
}

function estimatesOf({ workload, region: named }: CostQuestion): Estimate[] {
  return PROVIDERS.map((provider) => {
    const { regions } = LIST.providers[provider];
    const { region } = regions.find((one) => one.region === named) ?? regions[0];
    return estimateOf(LIST, provider, region, workload);
  });
}

const METER_NAMES: Readonly<Record<Meter, string>> = {
  reads: 'operations: reads',
  writes: 'operations: writes',
  deletes: 'operations: deletes',
  storageGib: 'storage',
  requests: 'compute: calls',
  vcpuSeconds: 'compute: processors',
  gibSeconds: 'compute: memory',
  egressGib: 'egress',
};

function estimateText({ provider, region, bills }: Estimate): string {
  const row = (name: string, dollarsOf: (bill: Bill) => number): string[] => [
    name,
    ...USERS_LAYOUTS.map((layout) => cents(dollarsOf(bills[layout]))),
  ];
  const prices = regionOf(LIST, provider, region);
  const sources = Object.values(prices.prices).map(
    ({ source, read, isVerified }) => `  ${source} (${isVerified ? `read ${read}` : 'not verified on that page'})`,
  );
  const rows = [
    ...bills.record.lines.map(({ meter }, at) => row(METER_NAMES[meter], ({ lines }) => lines[at]!.dollars)),
    row('total', ({ dollars }) => dollars),
    row('free tiers take off', ({ freeDollars }) => freeDollars),
    row('to pay', ({ dollars, freeDollars }) => dollars - freeDollars),
  ];
  return [
    `${PROVIDER_NAMES[provider]}, ${regionText(prices)}`,
    textTable(['dollars a month', ...USERS_LAYOUTS], rows, 1),
    '',
    'Where the prices stand:',
    ...new Set(sources),
  ].join('\n');
}
