// List prices of November 2026, in US dollars, without discounts and taxes. A region is left out
// unless a source was found for all that is billed there.
import type { Origin, Price, PriceList } from './prices.ts';

const READ = '2026-11-22';

/** The number stood on the provider's own page. */
function verified(source: string): Origin {
  return { source, read: READ, isVerified: true };
}

/** Others' pages, or the provider's whose stored copies lack the number, which others gave. */
function unverified(source: string): Origin {
  return { source, read: READ, isVerified: false };
}

const FIRESTORE = verified('https://firebase.google.com/docs/firestore/pricing');
const DATASTORE = unverified('https://cloud.google.com/datastore/pricing');
const DATASTORE_FREE = verified('https://developers.google.com/datastore/docs/pricing');
const RUN = verified('https://cloud.google.com/run/pricing');
const GOOGLE_EGRESS = unverified('https://egresscost.com/gcp/premium-vs-standard');
const TABLES = unverified('https://azure.microsoft.com/pricing/details/storage/tables/');
const FLEX = unverified('https://azure.microsoft.com/pricing/details/functions/');
const FLEX_PLAN = verified('https://learn.microsoft.com/azure/azure-functions/flex-consumption-plan');
const AZURE_EGRESS = unverified('https://c3x.dev/blog/azure-egress-bandwidth-cost/');

function price(dollars: number, per: number, from: Origin): Price {
  return { dollars, per, ...from };
}

/** Both regions are of the first of Cloud Run's two price tiers. */
const RUN_PRICES = {
  requests: price(0.4, 1_000_000, RUN),
  vcpuSeconds: price(0.000024, 1, RUN),
  gibSeconds: price(0.0000025, 1, RUN),
  /** The premium network tier, which Cloud Run uses, for the first TiB a month. */
  egressGib: price(0.12, 1, GOOGLE_EGRESS),
};

const TABLE_OPERATION = price(0.00036, 10_000, TABLES);

export const PRICES_2026_11: PriceList = {
  date: '2026-11',
  providers: {
    datastore: {
      billed: 'each entity read, written or deleted, batched or not',
      regions: [
        {
          region: 'us-central1',
          kind: '',
          prices: {
            reads: price(0.03, 100_000, DATASTORE),
            writes: price(0.09, 100_000, DATASTORE),
            deletes: price(0.01, 100_000, DATASTORE),
            storageGib: price(0.15, 1, DATASTORE),
            ...RUN_PRICES,
          },
        },
        {
          region: 'nam5',
          kind: 'several regions, functions in us-central1',
          prices: {
            reads: price(0.06, 100_000, FIRESTORE),
            writes: price(0.18, 100_000, FIRESTORE),
            deletes: price(0.02, 100_000, FIRESTORE),
            storageGib: price(0.18, 1, FIRESTORE),
            ...RUN_PRICES,
          },
        },
      ],
      // Of one database a project; of functions, once for a billing account.
      free: {
        reads: { amount: 30 * 50_000, ...DATASTORE_FREE },
        writes: { amount: 30 * 20_000, ...DATASTORE_FREE },
        deletes: { amount: 30 * 20_000, ...DATASTORE_FREE },
        storageGib: { amount: 1, ...DATASTORE_FREE },
        requests: { amount: 2_000_000, ...RUN },
        vcpuSeconds: { amount: 180_000, ...RUN },
        gibSeconds: { amount: 360_000, ...RUN },
        egressGib: { amount: 1, ...RUN },
      },
      billedPeriod: { leastMs: 100, stepMs: 100, ...RUN },
    },
    'azure-tables': {
      billed: 'each request; a group transaction counts as one',
      regions: [
        {
          region: 'eastus',
          kind: 'standard account, locally redundant (LRS)',
          prices: {
            reads: TABLE_OPERATION,
            writes: TABLE_OPERATION,
            deletes: TABLE_OPERATION,
            storageGib: price(0.045, 1, TABLES),
            requests: price(0.4, 1_000_000, FLEX),
            gibSeconds: price(0.000026, 1, FLEX),
            /** For the first 10 TB a month. A GB is taken as a GiB throughout. */
            egressGib: price(0.087, 1, AZURE_EGRESS),
          },
        },
      ],
      // Once for a subscription, and none with always-ready instances.
      free: {
        requests: { amount: 250_000, ...FLEX },
        gibSeconds: { amount: 100_000, ...FLEX },
        egressGib: { amount: 100, ...AZURE_EGRESS },
      },
      billedPeriod: { leastMs: 1_000, stepMs: 100, ...FLEX_PLAN },
    },
  },
};
