// A slow cloud around the memory driver: how late a service answers, what it turns away, and which
// commits wait for each other. It decides only when things happen, never what they do.
import type { MemoryCall, MemoryFault } from '../../drivers/memory.ts';
import type { DriverLimits, EntityId, Runtime } from '../../store/index.ts';
import { normal, type Random } from '../kit/random.ts';

/** How slow a service is. Times are medians of round trips, in milliseconds. */
export interface SlowProfile {
  readonly readMs: number;
  readonly commitMs: number;
  /** The spread: a round trip is its median times a lognormal of this sigma. */
  readonly sigma: number;
  /** Requests a second that a partition, and the account, take; more are throttled. */
  readonly partitionPerSecond?: number;
  readonly accountPerSecond?: number;
  /** Whether a commit holds its entities for half of its time, and others wait for them. */
  readonly locksEntities: boolean;
}

/** A read or a commit of these entities. */
export interface SlowRequest {
  readonly kind: 'read' | 'commit';
  readonly ids: readonly EntityId[];
  /** The partition that pays for it. */
  readonly partition: string;
}

/** A bucket holds what a service takes within so long. */
const BURST_MS = 100;

export class SlowCloud {
  readonly #profile: SlowProfile;
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>;
  readonly #random: Random;
  readonly #buckets = new Map<string, Bucket>();
  /** When the last commit that waits for an entity will let go of it. */
  readonly #freeAtMs = new Map<EntityId, number>();

  constructor(profile: SlowProfile, runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>, random: Random) {
    this.#profile = profile;
    this.#runtime = runtime;
    this.#random = random;
  }

  /** Waits until the request has its effect. The reply takes the rest; undefined: throttled. */
  async arrive({ kind, ids, partition }: SlowRequest): Promise<{ readonly replyMs: number } | undefined> {
    const { readMs, commitMs, partitionPerSecond, accountPerSecond, locksEntities } = this.#profile;
    const roundTripMs = (kind === 'read' ? readMs : commitMs) * this.#lognormal();
    await this.#runtime.sleep(roundTripMs / 2);
    const takes =
      this.#take('account', accountPerSecond, 1) && this.#take(`/${partition}`, partitionPerSecond, ids.length);
    if (!takes) return undefined;
    const waitMs = kind === 'commit' && locksEntities ? this.#lockMs(ids, roundTripMs / 2) : 0;
    if (waitMs > 0) await this.#runtime.sleep(waitMs);
    return { replyMs: roundTripMs / 2 };
  }

  /** As the memory driver's `faults`: in front of each of its calls. */
  async fault(call: MemoryCall, { lane }: Pick<DriverLimits, 'lane'>): Promise<MemoryFault> {
    const ids = idsOf(call);
    const kind = call.kind === 'read' || call.kind === 'list' ? 'read' : 'commit';
    const arrived = await this.arrive({ kind, ids, partition: ids[0] === undefined ? '' : lane(ids[0]) });
    if (arrived === undefined) return { refuse: 'throttled', reply: this.#runtime.sleep(this.#profile.readMs / 2) };
    return { reply: this.#runtime.sleep(arrived.replyMs) };
  }

  #take(name: string, perSecond: number | undefined, units: number): boolean {
    if (perSecond === undefined) return true;
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) this.#buckets.set(name, (bucket = new Bucket(perSecond)));
    return bucket.take(units, this.#runtime.monotonicMs());
  }

  /** The wait until all entities are free: then the commit takes effect, and holds them. */
  #lockMs(ids: readonly EntityId[], holdMs: number): number {
    const nowMs = this.#runtime.monotonicMs();
    const startMs = Math.max(nowMs, ...ids.map((id) => this.#freeAtMs.get(id) ?? 0));
    for (const id of ids) this.#freeAtMs.set(id, startMs + holdMs);
    return startMs - nowMs;
  }

  /** Of median 1. */
  #lognormal(): number {
    return Math.exp(this.#profile.sigma * normal(this.#random));
  }
}

class Bucket {
  readonly #perMs: number;
  readonly #unitsMax: number;
  #units: number;
  #filledAtMs = 0;

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1_000;
    this.#unitsMax = this.#perMs * BURST_MS;
    this.#units = this.#unitsMax;
  }

  take(units: number, nowMs: number): boolean {
    this.#units = Math.min(this.#unitsMax, this.#units + this.#perMs * (nowMs - this.#filledAtMs));
    this.#filledAtMs = nowMs;
    if (this.#units < units) return false;
    this.#units -= units;
    return true;
  }
}

function idsOf(call: MemoryCall): readonly EntityId[] {
  if (call.kind === 'list') return [];
  const members = call.kind === 'read' ? call.requests : call.kind === 'write' ? call.writes : call.removals;
  return members.map(({ id }) => id);
}
