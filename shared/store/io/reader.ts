// Reading containers. Reads of one container that wait share one read, and those of several containers go in one batch where the provider takes
// batches. A read never joins a request that was sent already: its reply may be older than the caller (rule 19).
import { isWhole, type Snapshot, snapshotOf } from '../container/snapshot.ts';
import type { Driver, Entity, EntityId, EntityVersion, PartName, ReadRequest } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import { id64, type Id64, ID64_BYTES } from '../format/bytes.ts';
import { COMMIT_PART, HEADER_PART, pagePart, slotOfPart } from '../format/ids.ts';
import type { AdaptiveLimit, Reply } from './adaptive-limit.ts';
import type { Clock } from './clock.ts';
import type { ContainerCache } from './container-cache.ts';
import type { Counters } from './counters.ts';
import { sendReads } from './requests.ts';

/** A container as one reply showed it. */
export interface Observation {
  readonly version: EntityVersion;
  readonly lastCommit: Id64 | undefined;
  readonly seen: Moment;
  /** Present if the header was asked for. */
  readonly snapshot: Snapshot | undefined;
}

/** A read that has not been sent yet: anyone may still join it. */
interface Pending {
  readonly id: EntityId;
  readonly parts: Set<PartName>;
  isWhole: boolean;
  askers: number;
  readonly reply: PromiseWithResolvers<Observation | undefined>;
}

export interface ReaderContext {
  readonly table: string;
  readonly driver: Driver;
  readonly cache: ContainerCache;
  readonly clock: Clock;
  readonly limit: AdaptiveLimit;
  readonly counters: Counters;
}

export class Reader {
  readonly #context: ReaderContext;
  readonly #pending = new Map<EntityId, Pending>();
  /** Containers whose last commit is being asked for. Further such checks wait for that reply, and then share one request. */
  readonly #checking = new Set<EntityId>();

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  /** Whether the snapshot is still the present version: one tiny read. */
  async isCurrent(snapshot: Snapshot): Promise<boolean> {
    return isShownBy(await this.commitOf(snapshot.id), snapshot);
  }

  /** The container's version and last commit; undefined if it is absent. One tiny read. */
  commitOf(id: EntityId): Promise<Observation | undefined> {
    return this.#request(id, [COMMIT_PART]);
  }

  /** The id of the container's last commit; undefined if it is absent. One tiny read. */
  async lastCommitOf(id: EntityId): Promise<Id64 | undefined> {
    return (await this.commitOf(id))?.lastCommit;
  }

  /** The container's version; undefined if it is absent. One tiny read. */
  async versionOf(id: EntityId): Promise<EntityVersion | undefined> {
    return (await this.commitOf(id))?.version;
  }

  /** The header, and the pages in these slots; undefined if the container is absent. A page that is missing has its `damage`. One request. */
  async readPages(id: EntityId, slots: readonly number[]): Promise<Snapshot | undefined> {
    const observed = await this.#request(id, [COMMIT_PART, HEADER_PART, ...slots.map(pagePart)]);
    return observed?.snapshot;
  }

  /** The whole container; undefined if it is absent. A page that is missing has its `damage`. One request. */
  async readWhole(id: EntityId): Promise<Snapshot | undefined> {
    const observed = await this.#request(id, 'all');
    return observed?.snapshot;
  }

  /** As `readWhole`, for who cannot do without a page: rejects with `corrupt` if one is missing. */
  async readIntact(id: EntityId): Promise<Snapshot | undefined> {
    const snapshot = await this.readWhole(id);
    const missing = snapshot?.header.pages.find(({ content }) => !content.isKnown);
    if (missing !== undefined) throw missing.content.damage!;
    return snapshot;
  }

  #request(id: EntityId, parts: 'all' | readonly PartName[]): Promise<Observation | undefined> {
    let pending = this.#pending.get(id);
    const couldDepart = pending !== undefined && this.#mayDepart(pending);
    if (pending === undefined) {
      pending = { id, parts: new Set(), isWhole: false, askers: 0, reply: Promise.withResolvers() };
      this.#pending.set(id, pending);
    }
    pending.askers += 1;
    if (parts === 'all') pending.isWhole = true;
    else for (const part of parts) pending.parts.add(part);
    if (!couldDepart && this.#mayDepart(pending)) this.#departSoon();
    return pending.reply.promise;
  }

  #mayDepart(pending: Pending): boolean {
    return !isCheck(pending) || !this.#checking.has(pending.id);
  }

  #departSoon(): void {
    void this.#context.limit.run(() => this.#depart());
  }

  /** Sends the oldest waiting reads: as many as the provider takes at once, whole containers apart from parts. */
  async #depart(): Promise<Reply | undefined> {
    const { driver, clock } = this.#context;
    const batch: Pending[] = [];
    for (const pending of this.#pending.values()) {
      if (batch.length === driver.limits.readsMax) break;
      if (pending.isWhole === (batch[0] ?? pending).isWhole && this.#mayDepart(pending)) batch.push(pending);
    }
    if (batch.length === 0) return undefined;
    for (const { id } of batch) this.#pending.delete(id);
    const checked = batch.filter(isCheck).map(({ id }) => id);
    for (const id of checked) this.#checking.add(id);
    const seen = clock.now();
    const requests = batch.map(({ id, parts, isWhole }): ReadRequest => ({ id, parts: isWhole ? 'all' : [...parts] }));
    const operations = batch.reduce((sum, { askers }) => sum + askers, 0);
    try {
      const entities = await sendReads(this.#context, requests);
      for (const [index, pending] of batch.entries()) this.#deliver(pending, entities[index], seen);
      return { operations, isThrottled: false };
    } catch (error) {
      for (const pending of batch) pending.reply.reject(error);
      return { operations, isThrottled: error instanceof StoreError && error.code === 'throttled' };
    } finally {
      for (const id of checked) this.#checking.delete(id);
      if (checked.some((id) => this.#pending.has(id))) this.#departSoon();
    }
  }

  #deliver(pending: Pending, entity: Entity | undefined, seen: Moment): void {
    try {
      pending.reply.resolve(entity === undefined ? this.#missing(pending.id) : this.#observe(pending, entity, seen));
    } catch (error) {
      pending.reply.reject(error);
    }
  }

  #missing(id: EntityId): undefined {
    this.#context.cache.forget(id);
  }

  #observe(pending: Pending, entity: Entity, seen: Moment): Observation {
    const { cache, table } = this.#context;
    const { version } = entity;
    if (!pending.isWhole && !pending.parts.has(HEADER_PART)) {
      const lastCommit = entity.parts.get(COMMIT_PART);
      return {
        version,
        lastCommit: lastCommit?.length === ID64_BYTES ? id64(lastCommit) : undefined,
        seen,
        snapshot: undefined,
      };
    }
    const read = snapshotOf(entity, table, seen, cache.get(entity.id));
    const asked = new Set(pending.isWhole ? [] : [...pending.parts].map(slotOfPart));
    for (const { slot, content } of read.header.pages) {
      if (content.isKnown || !(pending.isWhole || asked.has(slot))) continue;
      content.forget(new StoreError('corrupt', `page ${slot} is missing`, { table, container: entity.id }));
    }
    const offered = cache.offer(read);
    // A later commit may be known by fewer of its pages than this reply brought.
    const snapshot = pending.isWhole && !isWhole(offered.header) ? read : offered;
    return { version, lastCommit: read.lastCommit, seen, snapshot };
  }
}

/** Whether it asks for the last commit alone. */
function isCheck({ parts, isWhole }: Pending): boolean {
  return !isWhole && parts.size === 1 && parts.has(COMMIT_PART);
}

/** Whether the reply shows the snapshot's very version: then it is as young as the reply. Version and commit id must both be equal. */
export function isShownBy(observed: Observation | undefined, snapshot: Snapshot): boolean {
  if (observed?.version !== snapshot.version || observed.lastCommit !== snapshot.lastCommit) return false;
  if (observed.seen.tick > snapshot.seen.tick) snapshot.seen = observed.seen;
  return true;
}
