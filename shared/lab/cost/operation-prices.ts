// Converts the billable operations of measured work into dollars, without free tiers.
import * as z from 'zod';
import { PROVIDERS } from '../kit/dimensions.ts';
import type { BillableOperations } from './billable.ts';
import { dollarsEach, type PriceList, type ProviderPrices, regionText } from './prices.ts';

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
