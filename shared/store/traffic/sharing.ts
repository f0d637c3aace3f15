// What the changes of this process cost in a leaf that others write too: the requests that are sent
// for them, and the round trips that their callers wait. A leaf is split where sharing it is the
// worse bargain.
//
// In a leaf of its own among several writers a change takes a read and a commit: 2 requests times
// 2 round trips, a product of 4. Where a process writes alone the product is at most 1.6, so a
// process never splits a leaf for its own callers.
import type { Change } from '../container/change.ts';
import type { PageRef } from '../format/page-table.ts';
import { compareBytes } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';

/** The product above which a leaf is split. */
const PRODUCT_MAX = 4.2;
/** After n commits it must lie above that by a share of DOUBT / sqrt(n), which may be chance. */
const DOUBT = 3.5;
/** Each commit counts so much less than the next: about the last two hundred count. */
const KEPT = 0.995;
/** What a leaf's own commits lack to this is filled up with those of leaves that are like it. */
const COMMITS_ENOUGH = 50;
/** A leaf with fewer commits of this process says nothing about itself. */
const COMMITS_LEAST = 3;
/** A longer wait is one for something else: a lost reply, a split, a pause of the process. */
const ROUND_TRIPS_MOST = 16;
const ROUND_TRIP_LEAST_MS = 0.01;
/** Nodes of one split for traffic: their names fit into the header (`last-split.ts`). */
const NODES_MAX = 16;
/** Positions of the last changes: whether all lie close together. */
const POSITIONS_KEPT = 8;

/** The costs of one leaf's changes, or of those of many leaves. */
export class Sharing {
  #requests = 0;
  #roundTrips = 0;
  #changes = 0;
  #commits = 0;
  #requestsSinceCommit = 0;
  #positions: readonly Position[] = [];

  noteRequest(): void {
    this.#requestsSinceCommit += 1;
  }

  /**
   * A commit with these changes was acknowledged. `seldom` hears it too, while this leaf has too
   * few commits to be judged by them alone.
   */
  noteCommit(changes: readonly Change[], nowMs: number, roundTripMs: number, seldom: Sharing): void {
    const requests = this.#requestsSinceCommit;
    this.#requestsSinceCommit = 0;
    let roundTrips = 0;
    // A provider in memory may take no time at all.
    for (const { queuedMs } of changes)
      roundTrips += Math.min(ROUND_TRIPS_MOST, (nowMs - queuedMs) / Math.max(ROUND_TRIP_LEAST_MS, roundTripMs));
    if (this.#commits < COMMITS_ENOUGH) seldom.#add(requests, roundTrips, changes.length);
    this.#add(requests, roundTrips, changes.length);
  }

  #add(requests: number, roundTrips: number, changes: number): void {
    this.#requests = this.#requests * KEPT + requests;
    this.#roundTrips = this.#roundTrips * KEPT + roundTrips;
    this.#changes = this.#changes * KEPT + changes;
    this.#commits = this.#commits * KEPT + 1;
  }

  /** Keeps the position of one of the changes: a process that meets no others needs none. */
  notePosition(changes: readonly Change[]): void {
    const position = changes[changes.length >> 1]?.position;
    if (position !== undefined) this.#positions = [position, ...this.#positions.slice(0, POSITIONS_KEPT - 1)];
  }

  /**
   * Nodes to split the leaf among; 0: it may be shared. `base` are its pages, without the layers
   * above. `seldom`: the costs of leaves that this process commits to seldom.
   */
  nodes(base: readonly PageRef[], seldom: Sharing): number {
    if (this.#commits < COMMITS_LEAST || this.#product < PRODUCT_MAX) return 0;
    const seen = this.#with(seldom);
    if (seen.#product < PRODUCT_MAX * (1 + DOUBT / Math.sqrt(seen.#commits))) return 0;
    return this.#parts(base, Math.min(NODES_MAX, Math.max(2, Math.ceil(seen.#product / PRODUCT_MAX))));
  }

  /** So many of the nodes as changes would go to: one record, or one end, cannot be shared out. */
  #parts(base: readonly PageRef[], nodes: number): number {
    const sorted = this.#positions.toSorted(compareBytes);
    const distinct = sorted.filter((position, at) => at === 0 || compareBytes(position, sorted[at - 1]!) > 0);
    if (distinct.length < 2) return 0;
    const rowOf = (position: Position): number => base.findLastIndex(({ low }) => compareBytes(low, position) <= 0);
    const isOneEnd = rowOf(distinct.at(-1)!) - rowOf(distinct[0]!) < Math.floor(base.length / nodes);
    return isOneEnd ? 0 : Math.min(nodes, distinct.length);
  }

  /** Requests per change, times round trips that a change waited. */
  get #product(): number {
    return (this.#requests * this.#roundTrips) / (this.#changes * this.#changes);
  }

  #with(seldom: Sharing): Sharing {
    if (this.#commits >= COMMITS_ENOUGH) return this;
    const weight = Math.min(1, (COMMITS_ENOUGH - this.#commits) / Math.max(1, seldom.#commits));
    const both = new Sharing();
    both.#requests = this.#requests + seldom.#requests * weight;
    both.#roundTrips = this.#roundTrips + seldom.#roundTrips * weight;
    both.#changes = this.#changes + seldom.#changes * weight;
    both.#commits = this.#commits + seldom.#commits * weight;
    return both;
  }
}
