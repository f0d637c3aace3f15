// A month's bill of a table on one cloud in each layout: what each meter counts, times its price.
import { type Provider, type UsersLayout, USERS_LAYOUTS } from '../kit/dimensions.ts';
import { sum } from '../kit/numbers.ts';
import {
  type BillableOperations,
  dollarsEach,
  type Meter,
  METERS,
  type PriceList,
  type ProviderPrices,
  regionOf,
} from './prices.ts';

/** A table, what is done with it on each day, and by what calls of a function. */
export interface Workload {
  readonly records: number;
  readonly recordBytes: number;
  readonly readsPerDay: number;
  readonly writesPerDay: number;
  readonly deletesPerDay: number;
  /** Scans of the whole table, each in one call. */
  readonly scansPerDay: number;
  /** Records that a call reads, writes or deletes; writes are of one Azure partition. */
  readonly recordsPerCall: number;
  /** Anywhere in the table, or beside each other in the order of their keys. */
  readonly keys: 'random' | 'together';
  /** Instances that write at a time. */
  readonly instances: number;
  /** From the function to the database and back. */
  readonly roundTripMs: number;
}

export interface Estimate {
  readonly provider: Provider;
  readonly region: string;
  readonly bills: Readonly<Record<UsersLayout, Bill>>;
}

/** Nothing is rounded. `freeDollars` are what free tiers take off `dollars`. */
export interface Bill {
  /** Of each meter that the provider bills, in the order of METERS. */
  readonly lines: readonly BillLine[];
  readonly dollars: number;
  readonly freeDollars: number;
}

interface BillLine {
  readonly meter: Meter;
  readonly quantity: number;
  readonly dollars: number;
  readonly freeDollars: number;
}

const DAYS_A_MONTH = 30;
const DAY_MS = 86_400_000;
const GIB = 2 ** 30;

/** The instance that infra/gcp and infra/azure deploy for records. */
const INSTANCE = { vcpus: 1, memoryGib: 2, concurrency: 32 };

/** Records of the plain SDK in one billed request. */
const SDK_BATCH_MAX: Readonly<Record<Provider, Record<'read' | 'write' | 'scan', number>>> = {
  // Entities are billed one by one, however they are sent.
  datastore: { read: 1, write: 1, scan: 1 },
  // No batched get; 100 operations a group transaction; 1,000 entities a page of a query.
  'azure-tables': { read: 1, write: 100, scan: 1_000 },
};

/** Bytes of a record's own entity, with the names and the indexes of five text properties. */
export const ENTITY_BYTES: Readonly<Record<Provider, (recordBytes: number) => number>> = {
  datastore: (recordBytes) => 1_175 + recordBytes,
  'azure-tables': (recordBytes) => 156 + 2 * recordBytes,
};

/** Measured figures of containers; tests/lab/cost/estimate.test.ts checks all but `known`. */
const CONTAINERS = {
  /** Of the bytes of records: text compresses so. */
  storedShare: 0.618,
  /** A container's bytes after a load. */
  bytes: 400_000,
  /**
   * Headers that fit into a sixteenth of an instance's cache of 64 MiB: each takes 384 bytes and a
   * two hundredth of its container. The header of any other container has to be read first.
   */
  known: 1_759,
  /** Reads, and writes, per put where several instances write: it reads first, may be refused. */
  operationsPerPut: 1.15,
} as const;

/** Records that a scan reads in a round trip. */
const SCAN_PAGE_RECORDS = 500;

/** Throws a RangeError for a region without prices. */
export function estimateOf(list: PriceList, provider: Provider, region: string, workload: Workload): Estimate {
  const { [provider]: own } = list.providers;
  const { prices } = regionOf(list, provider, region);
  const billOf = (layout: UsersLayout): Bill => {
    const quantities = monthOf(layout, provider, workload, own.billedPeriod);
    const lines = METERS.flatMap((meter): BillLine[] => {
      const { [meter]: quantity } = quantities;
      const { [meter]: price } = prices;
      if (price === undefined) return [];
      const each = dollarsEach(price);
      const freeQuantity = Math.min(quantity, own.free[meter]?.amount ?? 0);
      return [{ meter, quantity, dollars: quantity * each, freeDollars: freeQuantity * each }];
    });
    const [dollars, freeDollars] = (['dollars', 'freeDollars'] as const).map((of) =>
      sum(lines.map((line) => line[of])),
    );
    return { lines, dollars: dollars!, freeDollars: freeDollars! };
  };
  const bills = Object.fromEntries(USERS_LAYOUTS.map((layout) => [layout, billOf(layout)]));
  return { provider, region, bills: bills as Estimate['bills'] };
}

/** Splits, and what is sent around records, are not counted. */
export function monthOf(
  layout: UsersLayout,
  provider: Provider,
  workload: Workload,
  period: ProviderPrices['billedPeriod'],
): Readonly<Record<Meter, number>> {
  const { records, recordBytes, readsPerDay, writesPerDay, deletesPerDay, scansPerDay, recordsPerCall, roundTripMs } =
    workload;
  const calls = {
    perDay: (readsPerDay + writesPerDay + deletesPerDay) / recordsPerCall,
    // Single entities of a call are sent one after another, in other layouts all at once.
    ms: roundTripMs * (layout === 'record' ? recordsPerCall : 1),
  };
  const scans = { perDay: scansPerDay, ms: roundTripMs * Math.ceil(records / SCAN_PAGE_RECORDS) };
  const seconds = billedSecondsADay([calls, scans], period);
  const perDay = {
    ...operationsOf(layout, provider, workload),
    requests: calls.perDay + scans.perDay,
    vcpuSeconds: seconds * INSTANCE.vcpus,
    gibSeconds: seconds * INSTANCE.memoryGib,
    egressGib: ((readsPerDay + scansPerDay * records) * recordBytes) / GIB,
  };
  const perMonth = Object.entries(perDay).map(([meter, quantity]) => [meter, quantity * DAYS_A_MONTH]);
  return { ...Object.fromEntries(perMonth), storageGib: storedBytes(layout, provider, workload) / GIB } as Record<
    Meter,
    number
  >;
}

function storedBytes(layout: UsersLayout, provider: Provider, { records, recordBytes }: Workload): number {
  return (
    records * (layout === 'container' ? CONTAINERS.storedShare * recordBytes : ENTITY_BYTES[provider](recordBytes))
  );
}

/** Operations of a day, as the provider bills them. */
export function operationsOf(layout: UsersLayout, provider: Provider, workload: Workload): BillableOperations {
  const { records, readsPerDay, writesPerDay, deletesPerDay, scansPerDay, recordsPerCall, instances } = workload;
  if (layout !== 'container') {
    const { [provider]: most } = SDK_BATCH_MAX;
    const perRecord = (many: number) => (layout === 'batch' ? Math.ceil(recordsPerCall / many) / recordsPerCall : 1);
    return {
      reads: readsPerDay * perRecord(most.read) + scansPerDay * Math.ceil(records / most.scan),
      writes: writesPerDay * perRecord(most.write),
      deletes: deletesPerDay * perRecord(most.write),
    };
  }
  const containers = containersOf(provider, workload);
  const touchedPerRecord = containersTouched(containers, workload) / recordsPerCall;
  // A delete is a put: it writes its container.
  const puts = (writesPerDay + deletesPerDay) * touchedPerRecord;
  const unknownShare = Math.max(0, 1 - CONTAINERS.known / containers);
  const readsPerPut = instances > 1 ? CONTAINERS.operationsPerPut : unknownShare;
  return {
    reads: readsPerDay * touchedPerRecord * (1 + unknownShare) + puts * readsPerPut + scansPerDay * containers,
    writes: puts * (instances > 1 ? CONTAINERS.operationsPerPut : 1),
    deletes: 0,
  };
}

export function containersOf(provider: Provider, workload: Workload): number {
  return Math.max(1, Math.ceil(storedBytes('container', provider, workload) / CONTAINERS.bytes));
}

/** Containers touched by a call, on average, if each of the table is as likely as another. */
export function containersTouched(
  containers: number,
  { records, recordsPerCall, keys }: Pick<Workload, 'records' | 'recordsPerCall' | 'keys'>,
): number {
  if (keys === 'random') return containers * -Math.expm1(recordsPerCall * Math.log1p(-1 / containers));
  return Math.min(containers, 1 + ((recordsPerCall - 1) * containers) / records);
}

/** Calls of each kind begin at random, on as few instances as their mean number needs. */
export function billedSecondsADay(
  kinds: readonly { readonly perDay: number; readonly ms: number }[],
  { leastMs, stepMs }: Pick<ProviderPrices['billedPeriod'], 'leastMs' | 'stepMs'>,
): number {
  const inFlight = (lastsMs: (ms: number) => number): number =>
    sum(kinds.map(({ perDay, ms }) => perDay * lastsMs(ms))) / DAY_MS;
  const instances = Math.max(1, Math.ceil(inFlight((ms) => ms) / INSTANCE.concurrency));
  const billed = inFlight((ms) => Math.max(leastMs, Math.ceil(ms / stepMs) * stepMs));
  // The share of time in which none of Poisson's calls is under way is e to the power of minus
  // their mean number (M/G/infinity).
  return (DAY_MS / 1_000) * instances * -Math.expm1(-billed / instances);
}

/** The assumptions of every estimate, as sentences. */
export function assumptionsOf({ date, providers }: PriceList, workload: Workload): string[] {
  const { recordsPerCall, keys, instances, roundTripMs } = workload;
  const { datastore, 'azure-tables': azure } = providers;
  const { known, operationsPerPut, storedShare } = CONTAINERS;
  return [
    `Prices are list prices as read in ${date}, without taxes and discounts; check the sources before deciding.`,
    `A month has ${DAYS_A_MONTH} days of the same load. Free tiers are taken whole, as if nothing else used them.`,
    `Records per call: ${recordsPerCall}, ${keys === 'random' ? 'anywhere in the table' : 'beside each other in the order of their keys'}. A round trip to the database takes ${roundTripMs} ms: single entities take one each, one after another; batches and containers one per call; scans one for ${SCAN_PAGE_RECORDS} records.`,
    `Calls come at random moments of the day. As few instances as can take them, ${INSTANCE.concurrency} at a time on ${INSTANCE.vcpus} vCPU and ${INSTANCE.memoryGib} GiB, are billed while any is at work, for at least ${datastore.billedPeriod.leastMs} ms (Datastore) or ${azure.billedPeriod.leastMs.toLocaleString('en-US')} ms (Azure): real load has peaks, and costs more.`,
    `An entity of its own has five text properties; on Datastore four are indexed, which makes it ${ENTITY_BYTES.datastore(500).toLocaleString('en-US')} bytes for 500. Containers hold ${storedShare} of the bytes: text that compresses as the samples did.`,
    `In containers a get takes one read, and a second one where an instance knows none of the table's last ${known.toLocaleString('en-US')} containers. A put takes ${instances > 1 ? `${operationsPerPut} writes and reads, as several instances write` : 'one write, as one instance writes'}; a delete is a put. Splits are not counted.`,
    'Every record that is read goes to the internet, uncompressed; egress is priced at its first tier.',
  ];
}
