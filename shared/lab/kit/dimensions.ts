// The dimensions of a comparison: providers, layouts, kinds of work.

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
