// List prices as read in November 2026, in US dollars, without free tiers, discounts, storage and traffic. The one place where prices stand;
// newer ones are a new file of a new date. Check the sources before deciding anything by them.
import type { Prices } from './prices.ts';

export const PRICES_2026_11: Prices = {
  date: '2026-11',
  providers: {
    datastore: {
      region: 'us-central1',
      billed: 'each entity read, written or deleted, batched or not',
      dollarsPerRead: 0.03 / 100_000,
      dollarsPerWrite: 0.09 / 100_000,
      dollarsPerDelete: 0.01 / 100_000,
      source: 'https://cloud.google.com/datastore/pricing',
    },
    'azure-tables': {
      region: 'standard account, locally redundant (LRS)',
      billed: 'each request; a group transaction counts as one',
      dollarsPerRead: 0.00036 / 10_000,
      dollarsPerWrite: 0.00036 / 10_000,
      dollarsPerDelete: 0.00036 / 10_000,
      source: 'https://azure.microsoft.com/pricing/details/storage/tables/',
    },
  },
};
