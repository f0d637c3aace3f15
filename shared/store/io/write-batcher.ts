// Commits that wait at the same moment share a request. Nothing waits for a batch to fill.
import { type EntityId, partBytes, type Write, type WriteOutcome } from '../contract/driver.ts';
import type { Runtime } from '../contract/runtime.ts';
import type { OperationTrace } from '../contract/trace.ts';
import { currentOperation } from '../system/tracing.ts';
import type { RequestLimit, Reply } from './request-limit.ts';
import { type Provider, sendWrites } from './requests.ts';

interface Waiting {
  readonly write: Write;
  readonly bytes: number;
  readonly isAlone: boolean;
  readonly operation: OperationTrace | undefined;
  readonly departs: () => boolean;
  readonly outcome: PromiseWithResolvers<WriteOutcome | TakenBack>;
}

/** The write was not sent. */
export interface TakenBack {
  readonly kind: 'taken back';
}

/** Told how long requests take, from when they left to their reply, and what they wrote to. */
interface RoundTrips {
  readonly runtime: Pick<Runtime, 'monotonicMs'>;
  readonly noteRoundTrip: (ms: number, ids: readonly EntityId[]) => void;
}

export class WriteBatcher {
  readonly #provider: Provider;
  readonly #limit: RequestLimit;
  readonly #roundTrips: RoundTrips;
  /** Not sent yet, the oldest first: at most one a container, whose queue sends no other before. */
  readonly #waiting = new Map<EntityId, Waiting>();

  constructor(provider: Provider, limit: RequestLimit, roundTrips: RoundTrips) {
    this.#provider = provider;
    this.#limit = limit;
    this.#roundTrips = roundTrips;
  }

  /**
   * `isAlone`: only there a refusal is certain (rule 1). `departs` is asked once there is room, in
   * the turn in which the request leaves: false takes the write back.
   */
  send(write: Write, isAlone: boolean, departs: () => boolean): Promise<WriteOutcome | TakenBack> {
    const outcome = Promise.withResolvers<WriteOutcome | TakenBack>();
    const operation = currentOperation();
    const waiting = { write, bytes: partBytes(write.parts), isAlone, operation, departs, outcome };
    this.#waiting.set(write.id, waiting);
    void this.#limit.run(() => this.#depart());
    return waiting.outcome.promise;
  }

  /** Whether a write of the container was not sent yet. */
  isWaiting(id: EntityId): boolean {
    return this.#waiting.has(id);
  }

  async #depart(): Promise<Reply | undefined> {
    const batch = this.#nextBatch();
    if (batch.length === 0) return undefined;
    const { runtime, noteRoundTrip } = this.#roundTrips;
    const writes = batch.map(({ write }) => write);
    let isThrottled = false;
    let isFailed = true;
    const sentMs = runtime.monotonicMs();
    try {
      const outcomes = await sendWrites(this.#provider, writes, batch[0]?.operation);
      for (const [index, { outcome }] of batch.entries()) outcome.resolve(outcomes[index]!);
      isThrottled = outcomes.some((each) => each.kind !== 'written' && each.reason === 'throttled');
      isFailed = outcomes.some((each) => each.kind !== 'written' && each.reason !== 'condition');
      if (!isFailed) {
        const ids = writes.map(({ id }) => id);
        noteRoundTrip(runtime.monotonicMs() - sentMs, ids);
      }
    } catch (error) {
      for (const { outcome } of batch) outcome.reject(error);
    }
    return { isThrottled, isFailed };
  }

  /** The write that waits longest, with those of its lane that fit into the same request. */
  #nextBatch(): Waiting[] {
    const { limits } = this.#provider.driver;
    const batch: Waiting[] = [];
    let lane: string | undefined;
    let bytes = 0;
    for (const [id, next] of this.#waiting) {
      if (batch.length > 0) {
        if (next.isAlone || limits.lane(id) !== lane || bytes + next.bytes > limits.writeBytesMax) continue;
      }
      this.#waiting.delete(id);
      if (!next.departs()) {
        next.outcome.resolve({ kind: 'taken back' });
        continue;
      }
      batch.push(next);
      lane = limits.lane(id);
      bytes += next.bytes;
      if (next.isAlone || batch.length === limits.writesMax) break;
    }
    return batch;
  }
}
