// Microseconds of the client's process, user and system, without the provider's servers.
import type { Provider } from '../../kit/dimensions.ts';

export const BUSY_IN_FLIGHT = 32;

/** One alone, and one of 32 in flight, which share turns of the event loop. */
export interface Cost {
  readonly alone: number;
  readonly busy: number;
}

/** The cost of several: of each request, and of each record in them. */
export interface BatchCost {
  readonly request: number;
  readonly record: number;
}

/**
 * One entity a record, by the plain SDK. `conditional` replaces what was read if unchanged: two
 * requests by etag, or a transaction of three.
 */
export type RecordCosts = Readonly<Record<'get' | 'insert' | 'replace' | 'conditional', Cost>>;

/** Charged: an operation when called, a request half when sent, half when answered. */
export interface ContainerCosts {
  /** An operation, or one record of `getMany` and `putMany`. `busy`: 32 callers. */
  readonly operation: {
    readonly get: Cost;
    readonly put: Cost;
    readonly update: Cost;
    readonly getManyRecord: number;
    readonly putManyRecord: number;
  };
  /** A driver's request; `busy`: 32 in flight. A listing costs a read, a removal a write. */
  readonly request: { readonly read: Cost; readonly write: Cost };
  /** One entity in a request. */
  readonly entity: { readonly read: number; readonly written: number };
  /** 1,024 bytes of parts that come or go. */
  readonly kib: { readonly read: number; readonly written: number };
}

export interface ProcessorCosts {
  readonly record: RecordCosts;
  /** The SDK's batches. Without a batched read, `read` is a single get and its record is free. */
  readonly batch: Readonly<Record<'read' | 'write', BatchCost>>;
  readonly container: ContainerCosts;
}

/** A whole calibration: figures of one machine on one day. */
export interface ProcessorTable {
  /** Day, ISO 8601. */
  readonly measured: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly platform: string; readonly node: string };
  /** Versions of this project and of the packages that were in use. */
  readonly packages: Readonly<Record<string, string>>;
  readonly rounds: number;
  readonly costs: Readonly<Record<Provider, ProcessorCosts>>;
}

/** A cost that is the same whatever is in flight. */
export function flat(microseconds: number): Cost {
  return { alone: microseconds, busy: microseconds };
}

/** Microseconds of one among `inFlight`, which share the cost of a turn of the event loop. */
export function costAt({ alone, busy }: Cost, inFlight: number): number {
  return busy + (alone - busy) * lonelinessAt(inFlight);
}

/** 1 alone, 0 with `BUSY_IN_FLIGHT` and more, and between them linear in 1 / inFlight. */
export function lonelinessAt(inFlight: number): number {
  return Math.max(0, (BUSY_IN_FLIGHT / Math.max(1, inFlight) - 1) / (BUSY_IN_FLIGHT - 1));
}
