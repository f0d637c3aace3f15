// What is compared: the providers, the ways to lay records out, and the kinds of work.

export const PROVIDERS = ['datastore', 'azure-tables'] as const;

export type Provider = (typeof PROVIDERS)[number];

/**
 * `record`: one entity a record, one record a request of the SDK. `batch`: the same in the SDK's batches. `driver`: one entity a record, through the store's own
 * driver. `container`: this store. `container-batch`: this store, handed as many records at once as `batch`.
 */
export const LAYOUTS = ['record', 'batch', 'driver', 'container', 'container-batch'] as const;

export type Layout = (typeof LAYOUTS)[number];

/** Those that users choose among: a plan's default, and what an estimate prices. The others tell what makes the difference. */
export const USERS_LAYOUTS = ['record', 'batch', 'container'] as const satisfies readonly Layout[];

export type UsersLayout = (typeof USERS_LAYOUTS)[number];

/** Those that the store has a part in: containers have a size. */
export function isOfContainers(layout: Layout): boolean {
  return layout === 'container' || layout === 'container-batch';
}

/**
 * `load` inserts new records, 500 handed over a call. The others are the core workloads of YCSB by their letters (Cooper et al., "Benchmarking cloud
 * serving systems with YCSB", SoCC 2010; mixes as in the project's files `workloads/workloada` to `workloadf`). data/workloads.ts has their mixes.
 */
export const WORKLOADS = ['load', 'ycsb-a', 'ycsb-b', 'ycsb-c', 'ycsb-d', 'ycsb-e', 'ycsb-f'] as const;

export type Workload = (typeof WORKLOADS)[number];

/** When the calls of an open loop are due (cell.ts). */
export const ARRIVALS = ['poisson', 'equidistant'] as const;

/**
 * What records are made of. `ycsb`: ten fields of random characters, as YCSB makes them, which compress little. `text`: customers' names, addresses and
 * notes, which compress to about half.
 */
export const RECORD_FORMS = ['ycsb', 'text'] as const;

export type RecordForm = (typeof RECORD_FORMS)[number];

/**
 * How the records that are read or changed are chosen. `uniform`, `zipfian` and `latest` are YCSB's. `zipfian-over-records` is hotter: its ranks are those of
 * the records themselves, not of ten billion items; of 10,000 records one gets 9.8 % of the operations, with `zipfian` 3.8 %.
 */
export const KEY_CHOICES = ['uniform', 'zipfian', 'zipfian-over-records', 'latest'] as const;

export type KeyChoice = (typeof KEY_CHOICES)[number];

/**
 * What a model plays: those that work on records that are there, and of `read`, `put` and `modify` one verb alone, on uniform keys unless a plan says otherwise.
 * `put` replaces whole records.
 */
export const MODEL_WORKLOADS = ['load', 'read', 'put', 'modify', 'ycsb-a', 'ycsb-b', 'ycsb-c', 'ycsb-f'] as const;

export type ModelWorkload = (typeof MODEL_WORKLOADS)[number];

/** `conditional`: as `record`, but every write reads the record first and is refused if another was quicker. */
export const MODEL_LAYOUTS = ['record', 'conditional', 'batch', 'container'] as const;

export type ModelLayout = (typeof MODEL_LAYOUTS)[number];

/** `one`: all operations are on a single record. */
export const MODEL_KEY_CHOICES = [...KEY_CHOICES, 'one'] as const;

export type ModelKeyChoice = (typeof MODEL_KEY_CHOICES)[number];
