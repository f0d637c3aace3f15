// The processor time that a client spends at its own end of a provider, as a modelled instance is charged for it: the shape of the table that
// `npm run calibrate -- processor` measures. All times are microseconds of one processor, user and system, of the client's process alone: the
// SDK, gRPC or HTTP, and this store's engine where it is in use. What the provider's servers spend is no part of it.
import type { Provider } from '../../kit/dimensions.ts';

/** In flight, at which the `busy` figures were measured. */
export const BUSY_IN_FLIGHT = 32;

/** What one thing costs: with nothing else in flight, and with 32 of its kind, where they share turns of the event loop and packets. */
export interface Cost {
  readonly alone: number;
  readonly busy: number;
}

/** What a number of them costs: so much for each request, and for each record in them. */
export interface BatchCost {
  readonly request: number;
  readonly record: number;
}

/** One entity a record, one request each, by the plain SDK. */
export interface RecordCosts {
  readonly get: Cost;
  readonly insert: Cost;
  /** Unconditional. */
  readonly replace: Cost;
  /** A record read and replaced on condition of what was read, all of it: by etag in two requests, or as a transaction (begin, lookup, commit). */
  readonly conditional: Cost;
}

/** The SDK's own batches of records. Where there is no batched read, `read` is that of single gets: a record costs nothing beside its request. */
export interface BatchCosts {
  readonly read: BatchCost;
  readonly write: BatchCost;
}

/**
 * This store: an operation is charged when it is called, a request for its entities and bytes, half when it is sent and half when it is
 * answered. The engine's share that follows what it sends (a commit's pages made and compressed, a reply's decoded) is in `entity` and `kib`.
 */
export interface ContainerCosts {
  /** The engine's own, whatever is sent for it: one operation, or one record of `getMany` and `putMany`. `busy` is with 32 callers. */
  readonly operation: {
    readonly get: Cost;
    readonly put: Cost;
    readonly update: Cost;
    readonly getManyRecord: number;
    readonly putManyRecord: number;
  };
  /** One request to the driver, whatever is in it; `busy` is with 32 requests in flight, not callers. A listing costs a read, a removal a write. */
  readonly request: { readonly read: Cost; readonly write: Cost };
  /** One entity in a request. */
  readonly entity: { readonly read: number; readonly written: number };
  /** 1,024 bytes of parts that come or go. */
  readonly kib: { readonly read: number; readonly written: number };
}

/** One provider's client. */
export interface ProcessorCosts {
  readonly record: RecordCosts;
  readonly batch: BatchCosts;
  readonly container: ContainerCosts;
}

/** A whole calibration: figures of one machine on one day. */
export interface ProcessorTable {
  /** Day, ISO 8601. */
  readonly measured: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly platform: string; readonly node: string };
  /** Versions of this project and of the packages that were in use. */
  readonly packages: Readonly<Record<string, string>>;
  /** Rounds, of which the medians count. */
  readonly rounds: number;
  readonly costs: Readonly<Record<Provider, ProcessorCosts>>;
}

/** Microseconds of one, with so many of its kind in flight (itself included): what a turn of the event loop costs is shared by all in flight. */
export function costAt({ alone, busy }: Cost, inFlight: number): number {
  return busy + (alone - busy) * lonelinessAt(inFlight);
}

/** 1 alone, 0 with `BUSY_IN_FLIGHT` and more, and between them linear in 1 / inFlight. */
export function lonelinessAt(inFlight: number): number {
  return Math.max(0, (BUSY_IN_FLIGHT / Math.max(1, inFlight) - 1) / (BUSY_IN_FLIGHT - 1));
}
