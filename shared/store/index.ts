// The public surface of the store.
export type * from './api.ts';
export { VALUE_DEPTH_MAX } from './carried.ts';
export type * from './driver.ts';
export { StoreError } from './errors.ts';
export type { StoreErrorCode, StoreErrorDetails } from './errors.ts';
export { systemRuntime } from './runtime.ts';
export type { Runtime } from './runtime.ts';
export { openStore } from './store.ts';
