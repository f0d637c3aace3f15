// The form of a price list, what each provider bills of a driver's work, and its dollars. A dated
// file has the numbers.
import { type Provider, PROVIDERS } from '../kit/dimensions.ts';
import * as z from 'zod';
import type { Usage } from '../kit/provider-usage.ts';
import type { DriverCounters } from '../../drivers/measured.ts';

/**
 * Meters. `reads`, `writes`, `deletes`: entities on Datastore, requests on Azure. `storageGib`: GiB
 * kept for a month. `requests`: calls of a function. `egressGib`: GiB to the internet.
 */
export const METERS = [
  'reads',
  'writes',
  'deletes',
  'storageGib',
  'requests',
  'vcpuSeconds',
  'gibSeconds',
  'egressGib',
] as const;

export type Meter = (typeof METERS)[number];

/** The source of a number. Pages were read in stored copies: a copy may be older than its day. */
export interface Origin {
  readonly source: string;
  /** `YYYY-MM-DD` when it was read. */
  readonly read: string;
  /** Whether the number stood on that page, the provider's own. Else others gave it. */
  readonly isVerified: boolean;
}

export interface Price extends Origin {
  /** US dollars for `per` units, as the list has them: 0.03 for 100,000. */
  readonly dollars: number;
  readonly per: number;
}

/** Prices of the meters that a provider has: Azure bills no processors apart from memory. */
export type Prices = Readonly<Record<Exclude<Meter, 'vcpuSeconds'>, Price> & Partial<Record<'vcpuSeconds', Price>>>;

export interface RegionPrices {
  readonly region: string;
  /** The kind of storage, where prices differ by it. */
  readonly kind: string;
  readonly prices: Prices;
}

export interface ProviderPrices {
  /** Says what counts as one read, write or delete. */
  readonly billed: string;
  /** The first is the default. */
  readonly regions: readonly [RegionPrices, ...RegionPrices[]];
  /** Free amount of each meter per month; a daily amount is taken as used up every day. */
  readonly free: Readonly<Partial<Record<Meter, Origin & { readonly amount: number }>>>;
  /** Billed of an instance's time at work: so much at least, and above that in whole steps. */
  readonly billedPeriod: Origin & { readonly leastMs: number; readonly stepMs: number };
}

export interface PriceList {
  /** `YYYY-MM` when the sources were read. */
  readonly date: string;
  readonly providers: Readonly<Record<Provider, ProviderPrices>>;
}

export function dollarsEach({ dollars, per }: Price): number {
  return dollars / per;
}

/** The prices of the region of that name. Throws a RangeError that names the regions there are. */
export function regionOf({ providers }: PriceList, provider: Provider, region: string): RegionPrices {
  const { regions } = providers[provider];
  const found = regions.find((one) => one.region === region);
  if (found !== undefined) return found;
  const names = regions.map((one) => one.region).join(', ');
  throw new RangeError(`no prices for ${provider} in ${region}; there are ${names}`);
}

/** The region's name, with the kind of storage where there are several. */
export function regionText({ region, kind }: RegionPrices): string {
  return kind === '' ? region : `${region}, ${kind}`;
}

const dollars = z.number().min(0);

/** The prices of one provider's operations in one region. */
const operationPricesSchema = z.strictObject({
  region: z.string(),
  /** Names one billable operation. */
  billed: z.string(),
  dollarsPerRead: dollars,
  dollarsPerWrite: dollars,
  dollarsPerDelete: dollars,
  source: z.string(),
});

/** As a report carries them. */
export const operationPriceListSchema = z.strictObject({
  /** `YYYY-MM` when the sources were read. */
  date: z.string(),
  providers: z.record(z.enum(PROVIDERS), operationPricesSchema),
});

export type OperationPrices = z.infer<typeof operationPricesSchema>;
export type OperationPriceList = z.infer<typeof operationPriceListSchema>;

/** The list's operations in each provider's default region. */
export function operationPriceList({ date, providers }: PriceList): OperationPriceList {
  return {
    date,
    providers: {
      datastore: operationPrices(providers.datastore),
      'azure-tables': operationPrices(providers['azure-tables']),
    },
  };
}

function operationPrices({ billed, regions: [region] }: ProviderPrices): OperationPrices {
  const { reads, writes, deletes } = region.prices;
  return {
    region: regionText(region),
    billed,
    dollarsPerRead: dollarsEach(reads),
    dollarsPerWrite: dollarsEach(writes),
    dollarsPerDelete: dollarsEach(deletes),
    source: reads.source,
  };
}

/** Dollars for a million records that cost what these `records` did. */
export function dollarsPerMillionRecords(
  { reads, writes, deletes }: BillableOperations,
  records: number,
  prices: OperationPrices,
): number {
  const { dollarsPerRead, dollarsPerWrite, dollarsPerDelete } = prices;
  const spent = reads * dollarsPerRead + writes * dollarsPerWrite + deletes * dollarsPerDelete;
  return (spent / records) * 1_000_000;
}

/** Operations as the provider bills them; a list counts as a read. */
export type BillableOperations = Usage['billable'];

/** Requests sent and operations billed since the counters began. */
export function billableOf(
  provider: Provider,
  counters: DriverCounters,
): { readonly requests: number; readonly billable: BillableOperations } {
  const { readCalls, writeCalls, removeCalls, listCalls, entitiesAsked, removals } = counters;
  const reads = entitiesAsked + listCalls;
  if (provider === 'azure-tables')
    return {
      requests: reads + writeCalls + removals,
      billable: { reads, writes: writeCalls, deletes: removals },
    };
  return {
    requests: readCalls + writeCalls + removeCalls + listCalls,
    billable: { reads, writes: counters.inserts + counters.patches + counters.replaces, deletes: removals },
  };
}
