// One container as its queue saw it last, and the reads that show it again.
import { slotsToCommit } from '../container/compaction.ts';
import type { Change } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Moment } from '../contract/runtime.ts';
import { ageAt } from '../io/clock.ts';
import { count } from '../io/counters.ts';
import { PAGE_READS_MAX } from '../io/reads.ts';
import type { EngineCore } from './core.ts';

/** An older snapshot is read again: a merged leaf keeps its commit ids for 24 h (rule 30). */
const REMEMBERED_MS = 12 * 60 * 60_000;

export class Latest {
  readonly #id: EntityId;
  readonly #core: EngineCore;
  #snapshot: Snapshot | undefined;
  /** It was read since the last commit. */
  #isFresh = false;
  /** Others may have split it meanwhile. */
  #mustRead = false;
  #pageReads = 0;

  constructor(id: EntityId, core: EngineCore) {
    this.#id = id;
    this.#core = core;
  }

  /** From memory: the cache may lack room for the container, so the queue keeps its own beside. */
  get known(): Snapshot | undefined {
    const cached = this.#core.cache.get(this.#id);
    if (this.#snapshot === undefined || cached === undefined) return this.#snapshot ?? cached;
    return cached.header.commitCount > this.#snapshot.header.commitCount ? cached : this.#snapshot;
  }

  /** A commit was tried; `hasLooked`: a read has shown the container since. */
  noteCommit(snapshot: Snapshot | undefined, hasLooked: boolean): void {
    this.#snapshot = snapshot;
    this.#isFresh = hasLooked;
  }

  /** The queue rested, so that others could write. */
  noteRest(): void {
    this.#isFresh = false;
    this.#mustRead = true;
  }

  forget(): void {
    this.#snapshot = undefined;
    this.#pageReads = 0;
  }

  /** All is read that the next commit needs. */
  endPageReads(): void {
    this.#pageReads = 0;
  }

  /** Whether a read comes before the next commit: others probably wrote, or it is old. */
  isReadDue(snapshot: Snapshot, now: Moment): boolean {
    if (this.#isFresh) return false;
    const isDue = this.#mustRead || this.#core.traffic.isReadDue(snapshot, now.monotonicMs);
    return isDue || ageAt(snapshot.seen, now) > REMEMBERED_MS;
  }

  async read(reading: Promise<Snapshot | undefined>): Promise<Snapshot | undefined> {
    this.#core.traffic.noteRequest(this.#id);
    this.#snapshot = await reading;
    this.#isFresh = true;
    this.#mustRead = false;
    return this.#snapshot;
  }

  /** A read and a commit that is hardly refused, instead of a refusal and then both. */
  async readFirst(snapshot: Snapshot, group: readonly Change[]): Promise<void> {
    count(this.#core, 'readsFirst');
    await this.read(this.#core.reader.readPages(snapshot.id, slotsToCommit(snapshot, group), snapshot));
  }

  async readPages(slots: readonly number[]): Promise<void> {
    const { reader } = this.#core;
    this.#pageReads += 1;
    const mustBeWhole = this.#pageReads > PAGE_READS_MAX;
    await this.read(mustBeWhole ? reader.readIntact(this.#id) : reader.readPages(this.#id, slots));
  }
}
