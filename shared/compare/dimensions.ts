// What is compared: the providers, the ways to lay records out, and the kinds of work. A cell is one of each.

export const PROVIDERS = ['datastore', 'azure-tables'] as const;

export type Provider = (typeof PROVIDERS)[number];

/** `record`: one entity a record, one record a request. `batch`: one entity a record, the SDK's batches. `container`: this store. */
export const LAYOUTS = ['record', 'batch', 'container'] as const;

export type Layout = (typeof LAYOUTS)[number];

/** `load`: new records, 500 handed over a call. `read`: uniform keys. `update`: half reads, half writes of whole records, scrambled zipfian keys (as YCSB A). */
export const WORKLOADS = ['load', 'read', 'update'] as const;

export type Workload = (typeof WORKLOADS)[number];
