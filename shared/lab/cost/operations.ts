// Billable operations into dollars, without free tiers, for work that was measured.
import type { Provider } from '../kit/dimensions.ts';
import type { BillableOperations } from './billable.ts';
import { dollarsEach, type PriceList, regionOf, regionText } from './prices.ts';

/** The prices of one provider's operations in one region, as a report carries them. */
export interface OperationPrices {
  readonly region: string;
  /** Names one billable operation. */
  readonly billed: string;
  readonly dollarsPerRead: number;
  readonly dollarsPerWrite: number;
  readonly dollarsPerDelete: number;
  readonly source: string;
}

export interface OperationPriceList {
  /** `YYYY-MM` when the sources were read. */
  readonly date: string;
  readonly providers: Readonly<Record<Provider, OperationPrices>>;
}

/** The list's operations in each provider's default region. */
export function operationPriceList(list: PriceList): OperationPriceList {
  const of = (provider: Provider) => operationPrices(list, provider, list.providers[provider].regions[0].region);
  return { date: list.date, providers: { datastore: of('datastore'), 'azure-tables': of('azure-tables') } };
}

/** Throws a RangeError where the list does not know the region, or not all of its operations. */
export function operationPrices(list: PriceList, provider: Provider, region: string): OperationPrices {
  const found = regionOf(list, provider, region);
  const { reads, writes, deletes } = found.prices;
  if (reads === undefined || writes === undefined || deletes === undefined)
    throw new RangeError(`the prices of ${list.date} lack operations of ${provider} in ${region}`);
  return {
    region: regionText(found),
    billed: list.providers[provider].billed,
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
  const dollars = reads * dollarsPerRead + writes * dollarsPerWrite + deletes * dollarsPerDelete;
  return (dollars / records) * 1_000_000;
}
