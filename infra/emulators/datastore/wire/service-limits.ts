// The service's limits with their sources, and the sizes by which it counts an entity's bytes.

/** "Must not exceed 1 MiB - 4 bytes" (entity.proto). */
export const ENTITY_BYTES_MAX = 1_048_572;
/** Both of Google's emulators refuse one byte more; the proto speaks of 1,000,000. */
export const PROPERTY_BYTES_MAX = 1_048_487;
/** Strings and blobs that are indexed, kinds, names, property names (entity.proto). */
export const INDEXED_BYTES_MAX = 1_500;
/** Limits page of the service. */
export const KEY_BYTES_MAX = 6 * 1_024;
/** "a path can have at most 100 elements" (entity.proto). */
export const PATH_ELEMENTS_MAX = 100;
/** Limits page of the service, for Lookup. */
export const LOOKUP_KEYS_MAX = 1_000;
/** Limits page of the service: the size of an API request, and of a transaction. */
export const REQUEST_BYTES_MAX = 10 * 1_024 * 1_024;
/** Limits page of the service: "maximum depth of nested entity values". */
export const NESTED_ENTITIES_MAX = 20;
/** "expires after 270 seconds or if idle for 60 seconds" (the service's page on transactions). */
export const TRANSACTION_MS_MAX = 270_000;
export const TRANSACTION_IDLE_MS_MAX = 60_000;
/** This emulator's own: a client that never ends transactions must not fill the process. */
export const OPEN_TRANSACTIONS_MAX = 10_000;
/** A larger answer is cut, because gRPC clients accept 4 MiB unless they are told otherwise. */
export const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024 - 64 * 1_024;
/** The service's batch of a query without a limit. */
export const BATCH_RESULTS_MAX = 300;

/** Bytes that the service counts besides names and values (its page on storage size). */
export const ENTITY_OVERHEAD_BYTES = 32;
export const KEY_OVERHEAD_BYTES = 16;
export const STRING_OVERHEAD_BYTES = 1;
export const NUMBER_BYTES = 8;
export const GEO_POINT_BYTES = 16;
