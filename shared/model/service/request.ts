// What a modelled service is asked, and how it fails.

/** One entity that a request touches. */
export interface Access {
  readonly id: string;
  /** Azure: the partition key. Datastore: the kind. */
  readonly partition: string;
  readonly kind: 'read' | 'write' | 'delete';
  /** Bytes that travel for this entity; 0 where a read does not know them beforehand. */
  readonly bytes: number;
}

export type RequestKind = 'get' | 'getMany' | 'commit' | 'transaction' | 'list' | 'query';

/** One request as it travels: what it does to the state is the effect that is passed beside it. */
export interface ModelRequest {
  readonly kind: RequestKind;
  readonly accesses: readonly Access[];
  /** After this many milliseconds the caller gives up; the request goes on. */
  readonly timeoutMs: number;
}

/**
 * Why a request brought no result:
 * - `throttled`: the service refused it before any effect (503, RESOURCE_EXHAUSTED).
 * - `contended`: the service gave it up for a lock it did not get, before any effect (ABORTED).
 * - `lost`: the connection broke; the effect may have happened.
 * - `timed-out`: no reply within `timeoutMs`; the effect may have happened, or may yet.
 */
export type Failure = 'throttled' | 'contended' | 'lost' | 'timed-out';

/** A request's failure, as the caller sees it. */
export class ServiceFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`the modelled service: ${failure}`);
    this.name = 'ServiceFailure';
    this.failure = failure;
  }
}
