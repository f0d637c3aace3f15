// A cell of the model and its result. Plain data, so that it can be sent to a worker.
import type { ModelKeyChoice, ModelLayout, ModelWorkload, Provider } from '../../kit/dimensions.ts';
import type { Arrivals } from '../../load/arrivals.ts';
import type { Level } from '../data/parameters.ts';
import type { FleetOptions } from '../instance/fleet.ts';
import type { Budget } from './budget.ts';

export interface ModelCell {
  /** Cells of one case differ in layout alone, and are set against each other. */
  readonly case: string;
  readonly provider: Provider;
  readonly layout: ModelLayout;
  readonly workload: ModelWorkload;
  /** Null: as the workload says. */
  readonly keys: ModelKeyChoice | null;
  readonly records: number;
  readonly recordBytes: number;
  readonly fleet: FleetOptions;
  /** Callers, each of whom waits for its reply; or arrivals, which wait for nothing. */
  readonly load: { readonly callers: number } | Arrivals;
  /** Null: the store's. */
  readonly containerKib: number | null;
  readonly window: Budget;
  readonly seed: number;
  /** False: operations cost no processor time. */
  readonly hasProcessor: boolean;
  /** Parameters of the provider that are not at their middle. */
  readonly settings: Readonly<Record<string, number | Level>>;
}

export interface ModelResult {
  readonly cell: ModelCell;
  /** Virtual. */
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Answered in the window; a call over its edge counts by its share of time within. */
  readonly operations: number;
  readonly operationsPerSecond: number;
  readonly meanMs: number;
  /** Mean number under way in the window: by Little's law that of the callers. */
  readonly underWay: number;
  /** Operations that began within the window. Percentiles are null if too few were slower. */
  readonly timed: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number;
  /** HdrHistogram V2, compressed, base64, microseconds. */
  readonly histogram: string;
  /** Counts of the window, per operation. */
  readonly requestsPerOperation: number;
  readonly billedPerOperation: number;
  readonly conflictsPerOperation: number;
  readonly dollarsPerMillion: number;
  readonly bytesReadPerOperation: number;
  readonly bytesWrittenPerOperation: number;
  /** Operations of the slowest caller as a share of the mean caller's; null in an open loop. */
  readonly slowestCaller: number | null;
  /** At the window's end; share of the window that the busiest, and the mean, processor worked. */
  readonly instances: number;
  readonly processorBusiest: number;
  readonly processorMean: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly warmupErrors: number;
  readonly unfinished: number;
  readonly throttled: number;
  readonly contended: number;
  /** Containers at the end; null for other layouts. */
  readonly containers: number | null;
  /** The provider's parameters that the figures hang on. */
  readonly parameters: readonly string[];
  /** Events that happened. */
  readonly steps: number;
}
