// Billable operations into dollars, without free tiers, for work that was measured.
import * as z from 'zod';
import { type Provider, PROVIDERS } from '../kit/dimensions.ts';
import type { BillableOperations } from './billable.ts';
import { dollarsEach, type PriceList, regionOf, regionText } from './prices.ts';

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
  const spent = reads * dollarsPerRead + writes * dollarsPerWrite + deletes * dollarsPerDelete;
  return (spent / records) * 1_000_000;
}
