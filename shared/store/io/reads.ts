// Reads containers, and tells the cache what they showed. Waiting reads of one share a read, of
// several a batch. None joins a request that was sent already: its reply may be older than the
// caller (rule 19). A reply that may be lost is asked for a second time.
import type { OpenAttempts } from '../container/attempts.ts';
import { isWhole, pageBytesOf, SMALL_BYTES, type Snapshot, snapshotOf } from '../container/snapshot.ts';
import type { Entity, EntityId, EntityVersion, PartName, ReadRequest } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Moment, Runtime } from '../contract/runtime.ts';
import { id64, type Id64, ID64_BYTES } from '../format/bytes.ts';
import type { OperationTrace } from '../contract/trace.ts';
import type { Header } from '../format/header.ts';
import { COMMIT_PART, HEADER_PART, pagePart, slotOfPart } from '../format/entity-ids.ts';
import { isSameBound } from '../format/position.ts';
import { currentOperation } from '../system/tracing.ts';
import type { Clock } from './moment-clock.ts';
import type { ContainerCache } from './container-cache.ts';
import { count } from './counters.ts';
import type { Deadlines } from './deadline.ts';
import type { Reply, RequestLimit } from './requests.ts';
import { LOST_AFTER_MS, type Provider, sendReads, SLOW_BYTES_PER_MS } from './send.ts';

/** A header that keeps changing between reads of its pages is read whole after so many. */
export const PAGE_READS_MAX = 2;
const CHECKED: readonly PartName[] = [COMMIT_PART];
const HEADER_PARTS: readonly PartName[] = [COMMIT_PART, HEADER_PART];
/** Checks that wait for another are looked at again so often. */
const PARKED_LOOK_MS = 100;
/** A shorter round trip costs a caller less than requests for more containers cost the process. */
const NEAR_MS = 4;
/** A near reply that takes longer may be lost: no check waits for it any more. */
const NEAR_WAIT_MS = 100;
/** Above this share sharing requests gains more than sending more of them. */
const BUSY_SHARE = 0.7;
/** A container counts so much in the average of all before. */
const BYTES_WEIGHT = 1 / 8;
/** The header's bytes in a reply, about. */
const HEADER_BYTES = 1_024;
/** Of a batch: no more than one large entity, so that little is lost if it fails. */
const BATCH_BYTES = 1024 * 1024;

/** A container as one reply showed it. */
export interface Observation {
  readonly version: EntityVersion;
  readonly lastCommit: Id64 | undefined;
  readonly seen: Moment;
  /** Present if the header was asked for. */
  readonly snapshot: Snapshot | undefined;
}

/** Version and commit id must both be equal. */
function isSameVersion(observed: Observation, snapshot: Snapshot): boolean {
  return observed.version === snapshot.version && observed.lastCommit === snapshot.lastCommit;
}

/** Whether the reply shows the snapshot's very version: then it is as young as the reply. */
export function isShownBy(observed: Observation | undefined, snapshot: Snapshot): boolean {
  if (observed === undefined || !isSameVersion(observed, snapshot)) return false;
  if (observed.seen.tick > snapshot.seen.tick) snapshot.seen = observed.seen;
  return true;
}

/** A read that has not been sent yet: anyone may still join it. */
interface Pending {
  readonly id: EntityId;
  parts: ReadRequest['parts'];
  /** The next departure may take it. Others wait for the end of a check, for a while. */
  isDue: boolean;
  /** The call that asked first. */
  readonly operation: OperationTrace | undefined;
  /** The container as one of them saw it last. */
  latest: Snapshot | undefined;
  readonly reply: PromiseWithResolvers<Observation | undefined>;
}

export interface ReaderContext extends Provider {
  readonly cache: ContainerCache;
  readonly clock: Clock;
  readonly runtime: Pick<Runtime, 'watch' | 'busyShare' | 'monotonicMs'>;
  readonly hedge: Hedge;
  readonly limit: RequestLimit;
  readonly noteLook: (id: EntityId, look: { foreignCommits: number; ms: number; wasSplit: boolean }) => void;
  /** Containers with work, and their attempts whose fate is not known. */
  readonly leaves: ReadonlyMap<EntityId, { readonly open: OpenAttempts }>;
}

export class Reader {
  readonly #context: ReaderContext;
  readonly #pending = new Map<EntityId, Pending>();
  /** Containers whose last commit is being asked for, since when: checks may share it. */
  readonly #checking = new Map<EntityId, number>();
  #isDepartureCalled = false;
  #isWatching = false;
  /** Bytes of the pages of a container, as those seen last had them. */
  #usualBytes = SMALL_BYTES * 2;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  /** Whether the snapshot is still the present version: one tiny read. */
  async isCurrent(snapshot: Snapshot): Promise<boolean> {
    return isShownBy(await this.commitOf(snapshot.id), snapshot);
  }

  /** The container's version and last commit; undefined if it is absent. One tiny read. */
  commitOf(id: EntityId): Promise<Observation | undefined> {
    return this.#request(id, CHECKED);
  }

  /** The container's version; undefined if it is absent. One tiny read. */
  async versionOf(id: EntityId): Promise<EntityVersion | undefined> {
    return (await this.commitOf(id))?.version;
  }

  /**
   * Header and pages in these slots; undefined if absent. A missing page has its `damage`. One
   * request. `latest`: as the caller saw it: its header is not decoded twice.
   */
  async readPages(id: EntityId, slots: readonly number[], latest?: Snapshot): Promise<Snapshot | undefined> {
    const observed = await this.#request(id, [...HEADER_PARTS, ...slots.map(pagePart)], latest);
    return observed?.snapshot;
  }

  /** All of it; undefined if absent. A missing page has its `damage`. One request. */
  async readWhole(id: EntityId): Promise<Snapshot | undefined> {
    const observed = await this.#request(id, 'all');
    return observed?.snapshot;
  }

  /** An unknown container: all of it if the table's have been small, else its header. */
  readUnknown(id: EntityId): Promise<Snapshot | undefined> {
    return this.#usualBytes <= SMALL_BYTES ? this.readWhole(id) : this.readPages(id, []);
  }

  /** As `readWhole`, for who cannot do without a page: rejects with `corrupt` if one is missing. */
  async readIntact(id: EntityId): Promise<Snapshot | undefined> {
    const snapshot = await this.readWhole(id);
    const missing = snapshot?.header.pages.find(({ content }) => !content.isKnown);
    if (missing !== undefined) throw missing.content.damage!;
    return snapshot;
  }

  #request(id: EntityId, parts: ReadRequest['parts'], latest?: Snapshot): Promise<Observation | undefined> {
    let pending = this.#pending.get(id);
    if (pending === undefined) {
      const reply = Promise.withResolvers<Observation | undefined>();
      pending = { id, parts, isDue: false, latest, reply, operation: currentOperation() };
      this.#pending.set(id, pending);
    } else if (parts === 'all') pending.parts = 'all';
    // Checks all ask for the same list: nothing is to be added then.
    else if (pending.parts !== 'all' && parts !== pending.parts)
      pending.parts = [...new Set([...pending.parts, ...parts])];
    pending.latest ??= latest;
    if (!pending.isDue) this.#departUnlessParked(pending);
    return pending.reply.promise;
  }

  #departUnlessParked(pending: Pending): void {
    if (this.#mayDepart(pending)) this.#departSoon(pending);
    else this.#park(pending);
  }

  #park(pending: Pending): void {
    pending.isDue = false;
    if (!this.#isWatching) void this.#watchParked();
  }

  /** An awaited reply may be lost, and the process idle by then: reads go without it. */
  async #watchParked(): Promise<void> {
    this.#isWatching = true;
    await this.#context.runtime.watch(PARKED_LOOK_MS);
    this.#isWatching = false;
    for (const pending of this.#pending.values()) if (!pending.isDue) this.#departUnlessParked(pending);
  }

  #mayDepart(pending: Pending): boolean {
    const sentMs = this.#checking.get(pending.id);
    return !isCheck(pending) || sentMs === undefined || !this.#sharesChecks(sentMs);
  }

  /** Whether checks wait for one sent at `sentMs`, and share the next request. */
  #sharesChecks(sentMs: number): boolean {
    const { limit, runtime } = this.#context;
    const isDueSoon = limit.loneRoundTripMs < NEAR_MS && runtime.monotonicMs() - sentMs < NEAR_WAIT_MS;
    return isDueSoon || runtime.busyShare() > BUSY_SHARE;
  }

  #departSoon(pending: Pending): void {
    pending.isDue = true;
    this.#callDeparture();
  }

  /** One departure at a time: it calls the next for the reads that it leaves. */
  #callDeparture(): void {
    if (this.#isDepartureCalled) return;
    this.#isDepartureCalled = true;
    void this.#context.limit.run(() => this.#depart());
  }

  /** Sends the oldest reads, as many as one request takes, whole containers apart. */
  async #depart(): Promise<Reply | undefined> {
    const { hedge, limit } = this.#context;
    this.#isDepartureCalled = false;
    const { batch, bytes } = this.#takeBatch();
    if (batch.length === 0) return undefined;
    const checked = batch.filter(isCheck).map(({ id }) => id);
    const seen = this.#context.clock.now();
    for (const id of checked) this.#checking.set(id, seen.monotonicMs);
    const requests = batch.map(({ id, parts }): ReadRequest => ({ id, parts }));
    const sent: ReturnType<typeof sendReads>[] = [];
    const send = () => {
      const reading = sendReads(this.#context, requests, batch[0]?.operation);
      sent.push(reading);
      return reading;
    };
    let isFailed = false;
    try {
      const entities = await hedge.ask(send, bytes, () => limit.wasThrottled(requests));
      for (const [index, pending] of batch.entries()) this.#deliver(pending, entities[index], seen);
    } catch (error) {
      isFailed = true;
      for (const pending of batch) pending.reply.reject(error);
    }
    for (const id of checked) {
      this.#checking.delete(id);
      const waiting = this.#pending.get(id);
      if (waiting !== undefined) this.#departSoon(waiting);
    }
    if (sent.length === 1) return { isFailed };
    // The reply that nobody awaits any more keeps its place among the requests in flight.
    await Promise.allSettled(sent);
    return { isFailed: true };
  }

  /** The oldest that are due; those that may not depart yet are not any more. */
  #takeBatch(): { readonly batch: readonly Pending[]; readonly bytes: number } {
    const { readsMax } = this.#context.driver.limits;
    const batch: Pending[] = [];
    let bytes = 0;
    for (const pending of this.#pending.values()) {
      if (!pending.isDue) continue;
      const isFull = batch.length === readsMax || bytes >= BATCH_BYTES;
      if (isFull || isForAll(pending) !== isForAll(batch[0] ?? pending)) {
        this.#callDeparture();
        if (isFull) break;
      } else if (this.#mayDepart(pending)) {
        batch.push(pending);
        bytes += this.#bytesOf(pending);
      } else this.#park(pending);
    }
    for (const { id } of batch) this.#pending.delete(id);
    return { batch, bytes };
  }

  /** Bytes that the reply will bring of it, about. */
  #bytesOf({ id, parts, latest }: Pending): number {
    const header = (latest ?? this.#context.cache.get(id))?.header;
    if (parts === 'all') return HEADER_BYTES + (header === undefined ? this.#usualBytes : pageBytesOf(header));
    const slots = new Set(parts.map(slotOfPart));
    let bytes = HEADER_BYTES;
    for (const { slot, sealedBytes } of header?.pages ?? []) if (slots.has(slot)) bytes += sealedBytes;
    return bytes;
  }

  #deliver(pending: Pending, entity: Entity | undefined, seen: Moment): void {
    try {
      if (entity === undefined) this.#context.cache.forget(pending.id);
      pending.reply.resolve(entity && this.#observe(pending, entity, seen));
    } catch (error) {
      pending.reply.reject(error);
    }
  }

  /** Tells how many commits of others a reply showed since the container was seen last. */
  #note(known: Snapshot | undefined, now: Header, seen: Moment): void {
    const { leaves, noteLook } = this.#context;
    if (known?.header.incarnation !== now.incarnation) return;
    const more = now.commitCount - known.header.commitCount;
    const own = leaves.get(known.id)?.open.ownCommitsBetween(known.header, now) ?? 0;
    const foreignCommits = more > 0 ? more - own : 0;
    if (foreignCommits > 0) count(this.#context, 'foreignCommits', foreignCommits);
    const ms = seen.monotonicMs - known.seen.monotonicMs;
    noteLook(known.id, { foreignCommits, ms, wasSplit: !isSameBound(known.header.high, now.high) });
  }

  #observe(pending: Pending, entity: Entity, seen: Moment): Observation {
    const { cache, table } = this.#context;
    const { version } = entity;
    const { parts } = pending;
    const cached = cache.get(entity.id);
    if (parts !== 'all' && !parts.includes(HEADER_PART)) {
      const stored = entity.parts.get(COMMIT_PART);
      const lastCommit = stored?.length === ID64_BYTES ? id64(stored) : undefined;
      const observed = { version, lastCommit, seen, snapshot: undefined };
      if (cached !== undefined && isSameVersion(observed, cached)) this.#note(cached, cached.header, seen);
      return observed;
    }
    const known = cached ?? pending.latest;
    const read = snapshotOf(entity, table, seen, known);
    // A commit of this process may lie in between: the cache alone knows of it.
    this.#note(cached, read.header, seen);
    if (read.header !== known?.header) this.#usualBytes += (pageBytesOf(read.header) - this.#usualBytes) * BYTES_WEIGHT;
    const asked = parts === 'all' ? undefined : new Set(parts.map(slotOfPart));
    for (const { slot, content } of read.header.pages) {
      if (content.isKnown || asked?.has(slot) === false) continue;
      content.forget(new StoreError('corrupt', `page ${slot} is missing`, { table, container: entity.id }));
    }
    const offered = cache.offer(read);
    // A later commit may be known by fewer of its pages than this reply brought.
    const snapshot = parts === 'all' && !isWhole(offered.header) ? read : offered;
    return { version, lastCommit: read.lastCommit, seen, snapshot };
  }
}

/** Whether it asks for the last commit alone. */
function isCheck({ parts }: Pending): boolean {
  return parts.length === 1 && parts[0] === COMMIT_PART;
}

function isForAll({ parts }: Pending): boolean {
  return parts === 'all';
}

/** A reply that may be lost is not waited for alone (Dean, Barroso: The Tail at Scale, 2013). */
export class Hedge {
  readonly #deadlines: Deadlines;
  /** One was sent a second time and is not answered: no other is. */
  #isUnderWay = false;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /**
   * Calls `send`, once more if that takes long for about so many bytes, unless it was throttled and
   * waits. The first reply.
   */
  async ask<T>(send: () => Promise<T>, bytes: number, isThrottled: () => boolean): Promise<T> {
    const first = send();
    const reply = await this.#deadlines.within(LOST_AFTER_MS + bytes / SLOW_BYTES_PER_MS, first);
    if (reply !== undefined) return reply;
    if (this.#isUnderWay || this.#deadlines.isClosed || isThrottled()) return first;
    this.#isUnderWay = true;
    const second = send().finally(() => {
      this.#isUnderWay = false;
    });
    // The first one's error, if both fail.
    return Promise.any([first, second]).catch(() => first);
  }
}
