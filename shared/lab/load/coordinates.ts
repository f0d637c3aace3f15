// The coordinates of a cell: what is compared, and under which load.
import * as z from 'zod';
import { LAYOUTS, PROVIDERS, WORKLOADS } from '../kit/dimensions.ts';

/** Most callers in flight on one instance. */
export const CALLERS_MAX = 256;
/** KiB of a container on both clouds: entities end below 704 on Azure, below 977 on Datastore. */
export const CONTAINER_KIB_LEAST = 16;
export const CONTAINER_KIB_MAX = 703;
const CONTAINER_RANGE = `a container has ${CONTAINER_KIB_LEAST} to ${CONTAINER_KIB_MAX} KiB, which both clouds take; null is as much as each of them takes`;
/** Most instances that one cell runs on. */
export const INSTANCES_MAX = 64;

export const coordinatesSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  layout: z.enum(LAYOUTS),
  workload: z.enum(WORKLOADS),
  /** Bytes of a record's fields together. */
  recordBytes: z.int().min(200).max(60_000),
  /** Null: as much as the provider takes, and in layouts without containers. */
  containerKib: z.int().min(CONTAINER_KIB_LEAST, CONTAINER_RANGE).max(CONTAINER_KIB_MAX, CONTAINER_RANGE).nullable(),
  /** Function instances that generate the load together. */
  instances: z.int().min(1).max(INSTANCES_MAX),
  /** On each instance: callers of a closed loop; of an open loop the most operations in flight. */
  callers: z.int().min(1).max(CALLERS_MAX),
  /** Calls that begin a second, on all instances together: an open loop. Null: a closed one. */
  ratePerSecond: z.number().positive().nullable(),
});

/** All of it together names a cell: two cells with the same coordinates are the same cell. */
export type Coordinates = z.infer<typeof coordinatesSchema>;
