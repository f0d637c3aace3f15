// Billable operations into dollars. The prices themselves stand in a dated data file.
import type { Provider } from '../dimensions.ts';
import type { Usage } from '../usage.ts';

export interface ProviderPrices {
  readonly region: string;
  /** What counts as one billable operation. */
  readonly billed: string;
  readonly dollarsPerRead: number;
  readonly dollarsPerWrite: number;
  readonly dollarsPerDelete: number;
  readonly source: string;
}

export interface Prices {
  /** `YYYY-MM` when the sources were read. */
  readonly date: string;
  readonly providers: Readonly<Record<Provider, ProviderPrices>>;
}

function dollarsOf(billable: Usage['billable'], prices: ProviderPrices): number {
  return (
    billable.reads * prices.dollarsPerRead +
    billable.writes * prices.dollarsPerWrite +
    billable.deletes * prices.dollarsPerDelete
  );
}

/** Dollars for a million records, if each costs what these `records` did, for which `billable` was spent. */
export function dollarsPerMillionRecords(billable: Usage['billable'], records: number, prices: ProviderPrices): number {
  return (dollarsOf(billable, prices) / records) * 1_000_000;
}
