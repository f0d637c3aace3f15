// Models how late a service answers, which requests it throttles, and which commits wait for each
// other. It decides when requests have their effects, but not which.
import type { Runtime } from '../../store/contract/runtime.ts';
import type { SlowProfile } from './profiles.ts';

/** A request as it is sent. */
export interface SlowRequest {
  readonly kind: 'read' | 'query' | 'commit';
  /** The entities that it names; a query names none. */
  readonly ids: readonly string[];
  readonly bytes: number;
  /** The partition that pays for its entities. */
  readonly partition?: string;
}

/** A request that has reached the service and has its effect now, unless it is throttled. */
export interface Arrived {
  readonly isThrottled: boolean;
  /** Waits until a reply of this size is back, or until the signal aborts. */
  readonly reply: (bytes: number, signal?: AbortSignal) => Promise<void>;
}

/** A bucket has room for the requests of this time. A guess, as no provider tells it. */
const BURST_MS = 1_000;
/** A map of this size drops entries that have no effect any more. */
const LEAST_KEPT = 10_000;
const KIB = 1_024;

/**
 * The n-th request takes the n-th draw, on whichever connection it comes. Its effect happens in the
 * middle of its round trip, as it does over a real network: what a caller knows is then half a
 * round trip old, and its answer to that lands half a round trip later, which is where conflicts
 * come from. Requests that are under way at once may take effect in any order, as none is promised.
 */
export class SlowCloud {
  readonly #profile: SlowProfile;
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>;
  readonly #random: () => number;
  readonly #buckets = new Lapsing<Bucket>((bucket, nowMs) => bucket.isFull(nowMs));
  /** When the last commit that waits for an entity will release it. */
  readonly #freeAtMs = new Lapsing<number>((freeAtMs, nowMs) => freeAtMs <= nowMs);

  /** `random` draws numbers in [0, 1). */
  constructor(profile: SlowProfile, runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>, random: () => number) {
    this.#profile = profile;
    this.#runtime = runtime;
    this.#random = random;
  }

  /** Waits until the request has its effect, or until the signal aborts. */
  async arrive({ kind, ids, bytes, partition = '' }: SlowRequest, signal?: AbortSignal): Promise<Arrived> {
    const { partitionPerSecond, accountPerSecond, locksEntities } = this.#profile;
    const { ms, furtherEntityMs, kibMs } = this.#profile[kind];
    const factor = this.#draw();
    const halfMs = (factor * (ms + furtherEntityMs * Math.max(0, ids.length - 1) + (kibMs * bytes) / KIB)) / 2;
    const dueMs = this.#runtime.monotonicMs() + halfMs;
    await this.#until(dueMs, signal);
    const takes =
      this.#take('account', accountPerSecond, 1) && this.#take(`/${partition}`, partitionPerSecond, ids.length);
    const effectMs = takes && kind === 'commit' && locksEntities ? this.#lock(ids, dueMs, halfMs) : dueMs;
    await this.#until(effectMs, signal);
    return {
      isThrottled: !takes,
      reply: (replyBytes, gone) => this.#until(effectMs + halfMs + (factor * kibMs * replyBytes) / KIB, gone),
    };
  }

  /** Waits again, as a timer may fire early and rounds its time down. */
  async #until(dueMs: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const leftMs = dueMs - this.#runtime.monotonicMs();
      if (leftMs <= 0 || signal?.aborted === true) return;
      await this.#runtime.sleep(leftMs, signal);
    }
  }

  #take(name: string, perSecond: number | undefined, units: number): boolean {
    if (perSecond === undefined) return true;
    const nowMs = this.#runtime.monotonicMs();
    const bucket = this.#buckets.get(name) ?? new Bucket(perSecond, nowMs);
    this.#buckets.set(name, bucket, nowMs);
    return bucket.take(units, nowMs);
  }

  /** Locks the entities from the time when all are free, which is when the commit takes effect. */
  #lock(ids: readonly string[], dueMs: number, holdMs: number): number {
    const effectMs = Math.max(dueMs, ...ids.map((id) => this.#freeAtMs.get(id) ?? 0));
    for (const id of ids) this.#freeAtMs.set(id, effectMs + holdMs, this.#runtime.monotonicMs());
    return effectMs;
  }

  /** The ratio of a round trip to its median. Draws as many numbers for every request. */
  #draw(): number {
    const { sigma, tail } = this.#profile;
    const factor = Math.exp(sigma * normal(this.#random));
    return tail !== undefined && this.#random() < tail.share ? factor * tail.factor : factor;
  }
}

/** Drawn from the standard normal distribution (Box and Muller). */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A map that drops lapsed values when it has grown, so that no run fills the memory. */
class Lapsing<Value> {
  readonly #values = new Map<string, Value>();
  readonly #hasLapsed: (value: Value, nowMs: number) => boolean;
  #sizeMax = LEAST_KEPT;

  constructor(hasLapsed: (value: Value, nowMs: number) => boolean) {
    this.#hasLapsed = hasLapsed;
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  set(name: string, value: Value, nowMs: number): void {
    this.#values.set(name, value);
    if (this.#values.size < this.#sizeMax) return;
    for (const [other, one] of this.#values) if (this.#hasLapsed(one, nowMs)) this.#values.delete(other);
    this.#sizeMax = Math.max(LEAST_KEPT, 2 * this.#values.size);
  }
}

class Bucket {
  readonly #perMs: number;
  readonly #unitsMax: number;
  #units: number;
  #filledAtMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perMs = perSecond / 1_000;
    this.#unitsMax = this.#perMs * BURST_MS;
    this.#units = this.#unitsMax;
    this.#filledAtMs = nowMs;
  }

  /** A throttled request takes nothing. */
  take(units: number, nowMs: number): boolean {
    const filled = this.#filled(nowMs);
    const takes = units <= filled;
    this.#units = takes ? filled - units : filled;
    this.#filledAtMs = nowMs;
    return takes;
  }

  isFull(nowMs: number): boolean {
    return this.#filled(nowMs) === this.#unitsMax;
  }

  #filled(nowMs: number): number {
    return Math.min(this.#unitsMax, this.#units + this.#perMs * (nowMs - this.#filledAtMs));
  }
}
