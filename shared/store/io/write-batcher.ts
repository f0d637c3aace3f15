// Sends the commits of containers. Commits that wait at the same moment and lie in one lane (a
// partition, say) share a request, and each of them gets its own outcome.
import { type EntityId, partBytes, type Write, type WriteOutcome } from '../contract/driver.ts';
import type { OperationTrace } from '../contract/trace.ts';
import { currentOperation } from '../system/tracing.ts';
import type { Reply, RequestLimit } from './request-limit.ts';
import { type RequestContext, sendWrites } from './send.ts';

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

export class WriteBatcher {
  readonly #context: RequestContext;
  readonly #limit: RequestLimit;
  /** Writes not sent yet, oldest first; at most one per container, which sends one at a time. */
  readonly #waiting = new Map<EntityId, Waiting>();

  constructor(context: RequestContext, limit: RequestLimit) {
    this.#context = context;
    this.#limit = limit;
  }

  /**
   * Sends the write once a request may leave. `isAlone` gives it a request to itself, in which a
   * refusal is certain (rule 1). `departs` is called just before the request leaves; if it returns
   * false, the write is taken back.
   */
  send(write: Write, isAlone: boolean, departs: () => boolean): Promise<WriteOutcome | TakenBack> {
    const outcome = Promise.withResolvers<WriteOutcome | TakenBack>();
    const bytes = partBytes(write.parts);
    this.#waiting.set(write.id, { write, bytes, isAlone, operation: currentOperation(), departs, outcome });
    void this.#limit.run(() => this.#depart());
    return outcome.promise;
  }

  /** Whether a write of this container has not been sent yet. */
  isWaiting(id: EntityId): boolean {
    return this.#waiting.has(id);
  }

  async #depart(): Promise<Reply | undefined> {
    const batch = this.#nextBatch();
    if (batch.length === 0) return undefined;
    const writes = batch.map(({ write }) => write);
    try {
      const outcomes = await sendWrites(this.#context, writes, batch[0]?.operation);
      for (const [index, { outcome }] of batch.entries()) outcome.resolve(outcomes[index]!);
      const answeredMs = this.#limit.nowMs();
      const isThrottled = outcomes.some((each) => each.kind !== 'written' && each.reason === 'throttled');
      const isFailed = outcomes.some((each) => each.kind !== 'written' && each.reason !== 'condition');
      return { isThrottled, isFailed, answeredMs };
    } catch (error) {
      for (const { outcome } of batch) outcome.reject(error);
      return { isFailed: true };
    }
  }

  /** Takes the write that has waited longest, and those of its lane that fit into its request. */
  #nextBatch(): Waiting[] {
    const { limits } = this.#context.driver;
    const batch: Waiting[] = [];
    let lane: string | undefined;
    let bytes = 0;
    for (const [id, next] of this.#waiting) {
      const isApart = next.isAlone || limits.lane(id) !== lane || bytes + next.bytes > limits.writeBytesMax;
      if (batch.length > 0 && isApart) continue;
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
