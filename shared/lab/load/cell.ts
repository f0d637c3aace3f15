// A cell: its coordinates, the request to one instance for its part of a run, and the answer, both
// as JSON.
import * as z from 'zod';
import { ARRIVALS, KEY_CHOICES, LAYOUTS, PROVIDERS, RECORD_FORMS, WORKLOADS } from '../kit/dimensions.ts';
import { countsSchema, usageSchema } from '../kit/provider-usage.ts';

const share = z.number().min(0).max(1);
const count = z.int().min(0);
const milliseconds = z.number().min(0);

/** Whether a warm-up ended because the rate of replies changed no more (phases.ts). */
export const STEADINESS = ['steady', 'unsteady', 'not known'] as const;

export type Steadiness = (typeof STEADINESS)[number];

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

export const placeSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  /** `local`: a process beside an emulator. */
  platform: z.enum(['google-cloud-run', 'azure-functions', 'local']),
  /** The answering service: `Google Cloud Datastore`, or an emulator's name. */
  backend: z.string().min(1),
  /** If so, no figure says anything about a cloud's speed. */
  isEmulator: z.boolean(),
  /** As the cloud spells it; null where the platform does not tell. */
  region: z.string().nullable(),
  /** The platform's id of the instance; of a local process one of its own, drawn as it starts. */
  instanceId: z.string().min(1),
  memoryBytes: z.number().positive().nullable(),
  /** Processors that the instance may use; parts of one are possible. */
  processors: z.number().positive().nullable(),
  processorModel: z.string(),
  /** `Linux 6.1.0 x64`. */
  system: z.string(),
  /** `Node.js 24.21.0`. */
  runtime: z.string(),
  /** Package -> version, of the store and of the SDK that its layouts and the others use. */
  versions: z.record(z.string(), z.string()),
  /** The function's; null where it was built outside of a repository. */
  commit: z.string().nullable(),
});

export type Place = z.infer<typeof placeSchema>;

/** As `table.stats()` has them, of one piece of work. */
export const storeCountersSchema = z.strictObject({
  commits: count,
  /** Commits of other processes that reads have shown. */
  foreignCommits: count,
  /** Reads sent before a commit, because others had probably written to the container. */
  readsFirst: count,
  /** Pauses before a commit, because another process was splitting the container. */
  yields: count,
  /** Containers that were split, for their size or for their traffic. */
  splits: count,
  contentionSplits: count,
  /** Splits for contention that others' commits prevented. */
  lostSplits: count,
});

export type StoreCounters = z.infer<typeof storeCountersSchema>;

/** The counters that a comparison keeps. */
export function countersIn(stats: StoreCounters): StoreCounters {
  const names = storeCountersSchema.keyof().options;
  return Object.fromEntries(names.map((name) => [name, stats[name]])) as StoreCounters;
}

/** Records of one dataset are numbered below this: keys are a bijection of 32-bit numbers. */
export const RECORD_INDEX_MAX = 0xffff_ffff;

/** The name of a dataset: a table of the store, a kind or a table of the baseline. */
export const datasetSchema = z.string().regex(/^[a-z][a-z0-9]{2,31}$/);

/** YCSB's default: ten fields of 100. */
export const RECORD_BYTES = 1_000;

const { recordBytes, containerKib } = coordinatesSchema.shape;

/** A dataset and the records that it begins with. */
export const datasetRequestSchema = z.strictObject({
  layout: z.enum(LAYOUTS),
  dataset: datasetSchema,
  /** Records that are in it before anything is measured. */
  records: z.int().min(1).max(1_000_000).default(10_000),
  recordBytes: recordBytes.default(RECORD_BYTES),
  recordForm: z.enum(RECORD_FORMS).default('ycsb'),
  containerKib: containerKib.default(null),
  /** Determines the fields of the records. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Milliseconds since 1970, from when the load may grow (dataset.ts). Null: no limit. */
  rampedSinceMs: z.number().min(0).nullable().default(null),
});

/** When the calls of an open loop are due. */
export const arrivalsSchema = z.enum(ARRIVALS).default('poisson');

/** How long the load lasts before it is measured. */
export const warmupSchema = z.strictObject({
  /** At least so long. */
  leastMs: z.int().min(0).max(60_000).default(300),
  /** Then until it is steady (phases.ts), but no longer than this; not below `leastMs`. */
  mostMs: z.int().min(0).max(60_000).default(1_500),
});

/** A request to one instance. All workloads but `load` need a dataset that has been loaded. */
export const cellRequestSchema = z.strictObject({
  ...datasetRequestSchema.shape,
  workload: z.enum(WORKLOADS),
  /** Null: as the workload says. */
  keys: z.enum(KEY_CHOICES).nullable().default(null),
  /** Callers in flight; of an open loop the most operations in flight. */
  callers: z.int().min(1).max(CALLERS_MAX),
  /** Calls that begin per second on this instance; null: a closed loop. */
  ratePerSecond: z.number().positive().nullable().default(null),
  arrivals: arrivalsSchema,
  /** Length of the window. Few replies make a closed loop's up to twice as long (phases.ts). */
  durationMs: z.int().min(1).max(60_000).default(1_000),
  warmup: warmupSchema.prefault({}),
  /** When the window opens everywhere, in milliseconds since 1970; null: as soon as it is warm. */
  windowAtMs: z.number().positive().nullable().default(null),
  /** Draws operations and an open loop's moments; `seed` draws the records' fields. */
  drawSeed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Number of the first record that this instance inserts. Each takes a range of its own. */
  insertFrom: z.int().min(0).max(RECORD_INDEX_MAX).default(0),
  /** Which of how many instances this is; each draws operations of its own. */
  part: z
    .strictObject({ index: z.int().min(0), count: z.int().min(1).max(INSTANCES_MAX) })
    .default({ index: 0, count: 1 }),
});

/** A caller's request: fields with defaults may be left out. */
export type CellRequestInput = z.input<typeof cellRequestSchema>;
/** The same with its defaults filled in. */
export type CellRequest = z.output<typeof cellRequestSchema>;
export type DatasetRequest = z.output<typeof datasetRequestSchema>;

/** One instance's answer. */
export const cellResultSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  layout: z.enum(LAYOUTS),
  workload: z.enum(WORKLOADS),
  place: placeSchema,
  /** True if no earlier cell had run in this instance's process. */
  isCold: z.boolean(),
  /** Age of the instance's process when the request arrived. */
  uptimeMs: milliseconds,
  /** Latency of the very first operation, connections and all. Null if it failed. */
  firstOperationMs: milliseconds.nullable(),
  /** Operations that a caller hands over in one call. */
  recordsPerCall: z.int().min(1),
  warmup: z.strictObject({
    durationMs: milliseconds,
    /** Not known after too few replies. */
    steadiness: z.enum(STEADINESS),
    /** Failed records of the warm-up. */
    errors: count,
  }),
  /** When the window opened, by this instance's clock, in milliseconds since 1970. */
  openedAtMs: z.number().positive(),
  /** Length of the window as it was measured. */
  durationMs: z.number().positive(),
  /** Answered within the window; operations over its edge count in part. A scan counts as one. */
  records: z.number().min(0),
  /** Those of the window's first half: against the rest it shows how the rate drifted. */
  recordsFirstHalf: z.number().min(0),
  /** Answered in all, with warm-up and drain: `usage` was spent on these. */
  recordsTotal: count,
  usage: usageSchema,
  /** The store's own counts; null in layouts without it. */
  store: storeCountersSchema.nullable(),
  /** Failed records since the window began, by code. */
  errors: countsSchema,
  /** Without a reply at the end, or due and never sent. The histogram has them with their age. */
  unfinished: count,
  /** Microseconds, in an open loop since a call was due. HdrHistogram V2, compressed, base64. */
  histogram: z.string().min(1),
  /** Operations in the histogram. */
  operations: count,
  /** Longest time from when an operation was due until it was sent; null in a closed loop. */
  behindMsMax: milliseconds.nullable(),
  /** Whether operations waited for Datastore's 500/50/5 rule, which then limited the rate. */
  isHeldByRamp: z.boolean(),
  processor: z.strictObject({
    /** Share of the thread's working time that it waited; null if the system does not tell. */
    wait: share.nullable(),
    /** Share of the machine's processor time that the hypervisor gave to other machines. */
    stolen: share.nullable(),
    /** Share of the run that the thread ran, or was ready to. Near 1 the generator is the limit. */
    busy: share.nullable(),
    /** The same of the emulator's thread; null where a real service answers. */
    emulatorBusy: share.nullable(),
  }),
  /** Processor time of the function's process during the run, all threads, in microseconds. */
  processorUs: z.number().min(0),
  /** Resident memory of the function's process when the run ended. */
  memoryBytes: z.number().positive(),
});

export type CellResult = z.infer<typeof cellResultSchema>;
