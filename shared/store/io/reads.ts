// Reads containers, and adds what a reply shows to the cache. Reads of one container that wait at
// the same time share one read, and reads of several share one request. None joins a request that
// was sent already, as its reply may be older than the call (rule 19). A reply that may be lost is
// asked for a second time.
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
import { count, currentOperation } from '../system/tracing.ts';
import type { Clock } from './clock.ts';
import type { ContainerCache } from './container-cache.ts';
import type { Reply, RequestLimit } from './requests.ts';
import { LOST_AFTER_MS, type RequestContext, sendReads, SLOW_BYTES_PER_MS } from './send.ts';
import type { Deadlines } from './deadline.ts';

/** After so many reads whose header had changed again, a container is read whole. */
export const PAGE_READS_MAX = 2;
const CHECKED: readonly PartName[] = [COMMIT_PART];
const HEADER_PARTS: readonly PartName[] = [COMMIT_PART, HEADER_PART];
/** How often checks that wait for another check are looked at again. */
const PARKED_LOOK_MS = 100;
/** Below this round trip time, waiting costs callers less than more requests cost the process. */
const NEAR_MS = 4;
/** A reply that takes longer than this may be lost, so checks do not wait for it any more. */
const NEAR_WAIT_MS = 100;
/** Above this busy share of the processor, checks share requests at any round trip time. */
const BUSY_SHARE = 0.7;
/** The weight of each container in the running average of their bytes. */
const BYTES_WEIGHT = 1 / 8;
/** About what a header adds to a reply. */
const HEADER_BYTES = 1_024;
/** Bytes that one request asks for: about one large entity, so that a failure loses little. */
const BATCH_BYTES = 1024 * 1024;

/** What one reply showed of a container. */
export interface Observation {
  readonly version: EntityVersion;
  readonly lastCommit: Id64 | undefined;
  readonly seen: Moment;
  /** Present if the header was asked for. */
  readonly snapshot: Snapshot | undefined;
}

/** Compares version and commit id: where etags tick slowly, equal versions alone prove nothing. */
function isSameVersion(observed: Observation, snapshot: Snapshot): boolean {
  return observed.version === snapshot.version && observed.lastCommit === snapshot.lastCommit;
}

/** Whether the reply shows the snapshot's version. If so, the snapshot becomes as recent. */
export function isShownBy(observed: Observation | undefined, snapshot: Snapshot): boolean {
  if (observed === undefined || !isSameVersion(observed, snapshot)) return false;
  if (observed.seen.tick > snapshot.seen.tick) snapshot.seen = observed.seen;
  return true;
}

/** A read that has not been sent yet, so others may join it. */
interface Pending {
  readonly id: EntityId;
  parts: ReadRequest['parts'];
  /** Whether the next departure may take it. If not, it is a check that waits for another. */
  isDue: boolean;
  /** The call that began it. */
  readonly operation: OperationTrace | undefined;
  /** The container as one of its callers last saw it. */
  latest: Snapshot | undefined;
  readonly reply: PromiseWithResolvers<Observation | undefined>;
}

export interface ReaderContext extends RequestContext {
  readonly cache: ContainerCache;
  readonly clock: Clock;
  readonly runtime: Pick<Runtime, 'watch' | 'busyShare' | 'monotonicMs'>;
  readonly deadlines: Deadlines;
  readonly limit: RequestLimit;
  readonly noteLook: (id: EntityId, look: { foreignCommits: number; ms: number; wasSplit: boolean }) => void;
  /** Containers with work, and their attempts that are not settled. */
  readonly leaves: ReadonlyMap<EntityId, { readonly open: OpenAttempts }>;
}

export class Reader {
  readonly #context: ReaderContext;
  readonly #hedge: Hedge;
  readonly #pending = new Map<EntityId, Pending>();
  /** For each container whose last commit is being read: when the request was sent. */
  readonly #checking = new Map<EntityId, number>();
  #isDepartureCalled = false;
  #isWatching = false;
  /** The average page bytes of the containers seen lately. */
  #usualBytes = SMALL_BYTES * 2;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#hedge = new Hedge(context.deadlines);
  }

  /** Whether the snapshot is still the present version. One small read. */
  async isCurrent(snapshot: Snapshot): Promise<boolean> {
    return isShownBy(await this.commitOf(snapshot.id), snapshot);
  }

  /** The container's version and last commit; undefined if it is absent. One small read. */
  commitOf(id: EntityId): Promise<Observation | undefined> {
    return this.#request(id, CHECKED);
  }

  /** The container's version; undefined if it is absent. One small read. */
  async versionOf(id: EntityId): Promise<EntityVersion | undefined> {
    return (await this.commitOf(id))?.version;
  }

  /**
   * The container's header and the pages in these slots; undefined if it is absent. One request. A
   * page that is missing has its `damage` set. `latest` is the container as the caller last saw it:
   * if its version still stands, the header is not decoded again.
   */
  async readPages(id: EntityId, slots: readonly number[], latest?: Snapshot): Promise<Snapshot | undefined> {
    const observed = await this.#request(id, [...HEADER_PARTS, ...slots.map(pagePart)], latest);
    return observed?.snapshot;
  }

  /** The container with all its pages; otherwise as `readPages`. */
  async readWhole(id: EntityId): Promise<Snapshot | undefined> {
    const observed = await this.#request(id, 'all');
    return observed?.snapshot;
  }

  /** Reads an unknown container: whole if others of the table have been small, else its header. */
  readUnknown(id: EntityId): Promise<Snapshot | undefined> {
    return this.#usualBytes <= SMALL_BYTES ? this.readWhole(id) : this.readPages(id, []);
  }

  /** As `readWhole`, but rejects with `corrupt` if a page is missing. */
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
    // All checks ask with the same array, so there is nothing to add.
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

  /** Sends parked checks later, if the awaited reply is late or the process is idle by then. */
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

  /** Whether checks wait for the one sent at `sentMs`, and then share the next request. */
  #sharesChecks(sentMs: number): boolean {
    const { limit, runtime } = this.#context;
    const isDueSoon = limit.loneRoundTripMs < NEAR_MS && runtime.monotonicMs() - sentMs < NEAR_WAIT_MS;
    return isDueSoon || runtime.busyShare() > BUSY_SHARE;
  }

  #departSoon(pending: Pending): void {
    pending.isDue = true;
    this.#callDeparture();
  }

  /** Asks for a departure unless one is due. Each asks for the next if it leaves reads behind. */
  #callDeparture(): void {
    if (this.#isDepartureCalled) return;
    this.#isDepartureCalled = true;
    void this.#context.limit.run(() => this.#depart());
  }

  /** Sends the oldest reads, as many as one request takes. Whole containers go in their own. */
  async #depart(): Promise<Reply | undefined> {
    const { limit } = this.#context;
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
      const entities = await this.#hedge.ask(send, bytes, () => limit.wasThrottled(requests));
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
    // A second request was sent: both count as in flight until both are answered.
    await Promise.allSettled(sent);
    return { isFailed: true };
  }

  /** Takes the oldest reads that are due, and parks those that have to wait after all. */
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

  /** About how many bytes the reply will have for this read. */
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

  /** Reports how many commits of other processes a container had since it was last seen. */
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
    // Compared with the cache, not with `latest`, which may be older than a commit of this process.
    this.#note(cached, read.header, seen);
    if (read.header !== known?.header) this.#usualBytes += (pageBytesOf(read.header) - this.#usualBytes) * BYTES_WEIGHT;
    const asked = parts === 'all' ? undefined : new Set(parts.map(slotOfPart));
    for (const { slot, content } of read.header.pages) {
      if (content.isKnown || asked?.has(slot) === false) continue;
      content.forget(new StoreError('corrupt', `page ${slot} is missing`, { table, container: entity.id }));
    }
    const offered = cache.offer(read);
    // If the cache knows a later commit but fewer of its pages, the caller gets this reply's.
    const snapshot = parts === 'all' && !isWhole(offered.header) ? read : offered;
    return { version, lastCommit: read.lastCommit, seen, snapshot };
  }
}

/** Whether it asks for the last commit only. */
function isCheck({ parts }: Pending): boolean {
  return parts.length === 1 && parts[0] === COMMIT_PART;
}

function isForAll({ parts }: Pending): boolean {
  return parts === 'all';
}

/** Asks a second time for a reply that may be lost (Dean, Barroso: The Tail at Scale, 2013). */
export class Hedge {
  readonly #deadlines: Deadlines;
  /** Whether a second request is not answered yet. There is only one at a time. */
  #isUnderWay = false;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /**
   * Calls `send`, and again after a second and the time of about so many bytes, unless the first
   * request is waiting because it was throttled. Returns the reply that comes first.
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
    // If both fail, the first one's error is reported.
    return Promise.any([first, second]).catch(() => first);
  }
}
