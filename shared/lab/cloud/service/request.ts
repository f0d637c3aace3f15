// Requests to a modelled service, and their failures.
import type { RequestKind } from '../data/parameters.ts';

export interface Access {
  readonly id: string;
  /** Azure: the partition. Datastore: the kind. */
  readonly partition: string;
  readonly kind: 'read' | 'write' | 'delete';
  /** Bytes that travel to the service for this entity; 0 of a read, whose reply tells. */
  readonly bytes: number;
  /** Index rows that a write of it changes. Default 0. */
  readonly indexRows?: number;
}

/** A transaction: its read takes the entity's lock, its commit gives it back. */
export class Transaction {
  /** Entities whose locks it holds. */
  held: readonly Access[] | undefined;
  /** It keeps no lock any more, not even one that it waits for. */
  isOver = false;
}

/** One request as it travels: what it does to the state is the effect that is passed beside it. */
export interface ModelRequest {
  readonly kind: RequestKind;
  /** Ids are distinct. A list names its one partition, with an empty id. */
  readonly accesses: readonly Access[];
  /** After this many milliseconds the caller gives up; the request goes on. */
  readonly timeoutMs: number;
  /** A read waits for the entity's lock and keeps it; a write gives it back. Default: none. */
  readonly transaction?: Transaction | undefined;
}

export interface Reply {
  bytes: number;
  /** Entities that a list found; 0 of any other kind. */
  entities: number;
  /** A condition did not hold, so that nothing was written. */
  isRefused: boolean;
}

/** Tells what a result means, by changing the fields of a reply of nothing. */
export type Describe<T> = (result: T, reply: Reply) => void;

/**
 * `throttled` (503, RESOURCE_EXHAUSTED) and `contended` (ABORTED): no effect. `lost` (broken
 * connection) and `timed-out`: perhaps an effect.
 */
export type Failure = 'throttled' | 'contended' | 'lost' | 'timed-out';

export class ServiceFailure extends Error {
  readonly code: Failure;

  constructor(code: Failure) {
    super(`the modelled service: ${code}`);
    this.name = 'ServiceFailure';
    this.code = code;
  }
}

/** Shared: a stack each would tell nothing, and takes longer than the request. */
export const FAILURES: Readonly<Record<Failure, ServiceFailure>> = {
  throttled: new ServiceFailure('throttled'),
  contended: new ServiceFailure('contended'),
  lost: new ServiceFailure('lost'),
  'timed-out': new ServiceFailure('timed-out'),
};
