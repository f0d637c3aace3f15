// A month's bill of a table on one cloud in each layout, with its assumptions.
import { type Provider, USERS_LAYOUTS, type UsersLayout } from '../kit/dimensions.ts';
import { type Bill, billOf, DAYS_A_MONTH } from './bill.ts';
import { CONTAINERS, STORED_BYTES } from './figures.ts';
import { type PriceList, regionOf } from './prices.ts';
import { type Calls, type Case, INSTANCE, monthlyQuantities, operationsOf, type Workload } from './workload.ts';

export interface Estimate {
  readonly provider: Provider;
  readonly region: string;
  readonly bills: Readonly<Record<UsersLayout, Bill>>;
  /** Dollars for the operations of a million records each; null without a price. */
  readonly perMillionRecords: Readonly<Record<UsersLayout, MillionRecords>>;
}

export interface MillionRecords {
  readonly read: number | null;
  readonly written: number | null;
  readonly deleted: number | null;
}

const MILLION = 1_000_000;

/** Throws a RangeError for a region without prices. */
export function estimateOf(list: PriceList, region: string, one: Case): Estimate {
  const { provider } = one;
  const prices = list.providers[provider];
  return {
    provider,
    region: regionOf(list, provider, region).region,
    bills: byLayout((layout) => billOf(monthlyQuantities(layout, one, prices), list, provider, region)),
    perMillionRecords: byLayout((layout) => millionRecords(layout, one, list, region)),
  };
}

function byLayout<T>(make: (layout: UsersLayout) => T): Record<UsersLayout, T> {
  const made = USERS_LAYOUTS.map((layout) => [layout, make(layout)] as const);
  return Object.fromEntries(made) as Record<UsersLayout, T>;
}

function millionRecords(layout: UsersLayout, one: Case, list: PriceList, region: string): MillionRecords {
  const none = { readsPerDay: 0, writesPerDay: 0, deletesPerDay: 0, scansPerDay: 0 };
  const dollars = (million: Partial<Workload>): number | null => {
    const workload = { ...one.workload, ...none, ...million };
    const operations = operationsOf(layout, { ...one, workload });
    const bill = billOf({ ...operations }, list, one.provider, region);
    return bill.unpriced.length === 0 ? bill.dollars : null;
  };
  return {
    read: dollars({ readsPerDay: MILLION }),
    written: dollars({ writesPerDay: MILLION }),
    deleted: dollars({ deletesPerDay: MILLION }),
  };
}

/** The assumptions of every estimate, as sentences. */
export function assumptionsOf(list: PriceList, { recordsPerCall, keys, concurrency, durationMs }: Calls): string[] {
  const { datastore, 'azure-tables': azure } = list.providers;
  const { fixed, factor } = STORED_BYTES.entity.datastore;
  return [
    `Prices are list prices as read in ${list.date}, without taxes and discounts; check the sources before deciding.`,
    `A month has ${DAYS_A_MONTH} days of the same load. Free tiers are taken whole, as if nothing else used them.`,
    `Records a call: ${recordsPerCall}, ${keys === 'random' ? 'anywhere in the table' : 'beside each other in the order of their keys'}.`,
    `Calls come at random moments of the day. As few instances as can take them, ${concurrency} at a time on ${INSTANCE.vcpus} vCPU and ${INSTANCE.memoryGib} GiB, are billed while any is at work, for at least ${datastore.billedPeriod.leastMs} ms (Datastore) or ${azure.billedPeriod.leastMs.toLocaleString('en-US')} ms (Azure): real load has peaks, and costs more.`,
    durationMs === undefined
      ? 'A call takes what it took on emulators with 10 ms of distance: no cloud was measured.'
      : `A call takes ${durationMs} ms.`,
    `An entity of its own has five text properties; on Datastore four are indexed, which makes it ${(factor * 500 + fixed).toLocaleString('en-US')} bytes for 500. Containers hold ${STORED_BYTES.container.datastore.factor} of the bytes: text that compresses as the samples did.`,
    `In containers a get takes one read, and a second one where an instance knows none of the table's last ${CONTAINERS.known.toLocaleString('en-US')} containers; a put takes one write where one instance writes, and ${CONTAINERS.looksAPut} reads beside it where several do; a delete is a put. Splits are not counted.`,
    'Every record that is read goes to the internet, uncompressed; egress is priced at its first tier.',
  ];
}
