// The dimensions of a comparison: providers, layouts, and the workloads as data.
export const PROVIDERS = ['datastore', 'azure-tables'] as const;

export type Provider = (typeof PROVIDERS)[number];

/**
 * `record`: the SDK, with one entity per record. `batch`: the same in the SDK's batches.
 * `container`: this store. `container-sdk`: this store over the SDK's transport, to tell apart what
 * packing and what the transport gains.
 */
export const LAYOUTS = ['record', 'batch', 'container', 'container-sdk'] as const;

export type Layout = (typeof LAYOUTS)[number];

/** The layouts that a user chooses among: a plan's default, and all that an estimate has. */
export const USERS_LAYOUTS = ['record', 'batch', 'container'] as const satisfies readonly Layout[];

export type UsersLayout = (typeof USERS_LAYOUTS)[number];

export function isOfContainers(layout: Layout): boolean {
  return layout === 'container' || layout === 'container-sdk';
}

/**
 * `load` inserts and `read-together` reads 100 records of one tenant per call; `update` replaces
 * one record. The others are YCSB's core workloads (Cooper et al., SoCC 2010).
 */
export const WORKLOADS = [
  'load',
  'ycsb-c',
  'ycsb-a',
  'read-together',
  'ycsb-e',
  'ycsb-b',
  'ycsb-d',
  'ycsb-f',
  'update',
] as const;

export type Workload = (typeof WORKLOADS)[number];

/** Gaps between the calls of an open loop: exponential, as of independent callers, or equal. */
export const ARRIVALS = ['poisson', 'equidistant'] as const;

/** `ycsb`: ten fields of random characters. `text` compresses to about half. */
export const RECORD_FORMS = ['ycsb', 'text'] as const;

export type RecordForm = (typeof RECORD_FORMS)[number];

/** `zipfian-over-records` is hotter than YCSB's `zipfian`, whose ranks are of ten billion items. */
export const KEY_CHOICES = ['uniform', 'zipfian', 'zipfian-over-records', 'latest'] as const;

export type KeyChoice = (typeof KEY_CHOICES)[number];

/** `update` replaces; `modify` reads and writes without losing another's change. */
export type Verb = 'read' | 'update' | 'insert' | 'scan' | 'modify';

export interface Mix {
  /** Shares of the operations, 1 together. */
  readonly shares: Readonly<Partial<Record<Verb, number>>>;
  /** How keys are chosen for all but inserts; null where every operation inserts. */
  readonly keys: KeyChoice | null;
  /** Records that a caller hands over in one call, in every layout. */
  readonly recordsPerCall: number;
}

/** Records of one tenant that are loaded, or read, together: Azure's largest transaction. */
const TOGETHER = 100;

/** YCSB's files `workloada` to `workloadf`. Its updates write one field, ours the record. */
export const MIXES: Readonly<Record<Workload, Mix>> = {
  load: { shares: { insert: 1 }, keys: null, recordsPerCall: TOGETHER },
  'read-together': { shares: { read: 1 }, keys: 'zipfian', recordsPerCall: TOGETHER },
  'ycsb-a': { shares: { read: 0.5, update: 0.5 }, keys: 'zipfian', recordsPerCall: 1 },
  'ycsb-b': { shares: { read: 0.95, update: 0.05 }, keys: 'zipfian', recordsPerCall: 1 },
  'ycsb-c': { shares: { read: 1 }, keys: 'zipfian', recordsPerCall: 1 },
  'ycsb-d': { shares: { read: 0.95, insert: 0.05 }, keys: 'latest', recordsPerCall: 1 },
  'ycsb-e': { shares: { scan: 0.95, insert: 0.05 }, keys: 'zipfian', recordsPerCall: 1 },
  'ycsb-f': { shares: { read: 0.5, modify: 0.5 }, keys: 'zipfian', recordsPerCall: 1 },
  update: { shares: { update: 1 }, keys: 'zipfian', recordsPerCall: 1 },
};

/** From 1 on, uniform: YCSB's `maxscanlength` and `scanlengthdistribution`. */
export const SCAN_RECORDS_MAX = 100;

/** Why a layout cannot run a workload on a cloud, in a sentence; undefined where it can. */
export function whyNot(layout: Layout, workload: Workload, provider: Provider): string | undefined {
  if (layout !== 'batch') return undefined;
  if (MIXES[workload].recordsPerCall === 1)
    return 'Callers hand over one operation at a time, so there is nothing to batch.';
  if (workload === 'read-together' && provider === 'azure-tables')
    return 'Azure Table Storage has no batched read: users send single ones in parallel, as the layout record does.';
  return undefined;
}
