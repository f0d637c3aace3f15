// The public surface of the store.
export type * from './contract/api.ts';
export type { TableStats } from './contract/stats.ts';
export type { Compression } from './contract/runtime.ts';
export { VALUE_DEPTH_MAX } from './table/check-value.ts';
export type * from './contract/driver.ts';
export { StoreError } from './contract/errors.ts';
export type { StoreErrorCode, StoreErrorDetails } from './contract/errors.ts';
export { systemRuntime } from './system/system-runtime.ts';
export type { Runtime } from './contract/runtime.ts';
export { openStore } from './store.ts';
