// What a model's work is made of, by name.

/**
 * `record`: one entity a record, written without a condition. `conditional`: the same, but every write reads the record first and is refused if
 * another was quicker. `batch`: one entity a record, the provider's batches. `container`: this store.
 */
export const MODEL_LAYOUTS = ['record', 'conditional', 'batch', 'container'] as const;

export type ModelLayout = (typeof MODEL_LAYOUTS)[number];

/**
 * `load`: new records, 500 handed over a call. `read`: strong gets. `put`: whole records, without a condition of the caller's. `modify`: a record
 * is read, changed and written as one step. `update`: half reads, half puts, as in the comparison and in YCSB A.
 */
export const MODEL_WORKLOADS = ['load', 'read', 'put', 'modify', 'update'] as const;

export type ModelWorkload = (typeof MODEL_WORKLOADS)[number];

/** `uniform` and `zipfian` are the comparison's. `one`: all operations are on a single record. */
export const KEY_CHOICES = ['uniform', 'zipfian', 'one'] as const;

export type KeyChoice = (typeof KEY_CHOICES)[number];
