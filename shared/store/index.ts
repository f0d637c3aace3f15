// The public surface of the store.
export type * from './contract/api.ts';
export { DELETE } from './contract/options.ts';
export type * from './contract/options.ts';
export type * from './contract/results.ts';
export type * from './contract/admin.ts';
export type * from './contract/trace.ts';
export type * from './contract/stats.ts';
export type { Compression, Runtime } from './contract/runtime.ts';
export { StoreError } from './contract/errors.ts';
export type { StoreErrorCode, StoreErrorDetails } from './contract/errors.ts';
export type * from './contract/driver.ts';
export { TABLE_NAME } from './format/entity-ids.ts';
export { openStore } from './store.ts';
export { systemRuntime } from './system/system-runtime.ts';
export { decode, encode, RECORD_BYTES_MAX, VALUE_DEPTH_MAX } from './table/encode-value.ts';
