// A table as one verification met it: where each container lies, also those that cannot be read.
import { isCommitKnown } from '../container/check.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId, EntityVersion } from '../contract/driver.ts';
import { compareBytes, EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { type Header, NO_PAGES } from '../format/header.ts';
import { containerOf, incarnationOf } from '../format/entity-ids.ts';
import type { Position, UpperBound } from '../format/position.ts';

/** A container: its header's fields as far as they are known. */
export interface Met {
  readonly id: EntityId;
  readonly container: Id64;
  readonly level: number;
  readonly low: Position;
  readonly header: Header | undefined;
  /** Undefined for one that is missing. */
  readonly version: EntityVersion | undefined;
  /** The last record that is left of a leaf whose header cannot be read. */
  readonly last?: Position | undefined;
  readonly faults: number;
}

export type Start = Pick<Met, 'low' | 'container'>;

/** Hears of each container in the order of a walk; of one that was read again, again. */
export class Sketch {
  /** In the order of the walk: level by level from the root, from left to right. */
  readonly linked = new Map<EntityId, Met>();
  readonly unlinked = new Map<EntityId, Met>();
  /** Neither linked nor readable. */
  readonly unreadable = new Set<EntityId>();
  isRootLost = false;
  /** Above all numbers, and all counts of commits, that a header names. */
  most = 0;

  /** A container with a readable header. `isLinked`: a link led there. */
  node(snapshot: Snapshot, isLinked: boolean, faults: number): void {
    const { id, version, header } = snapshot;
    const { container, level, low } = header;
    this.most = Math.max(this.most, header.nextNumber, header.commitCount);
    // Nobody reads one without its commit id, so vacuum cannot judge it.
    if (!isLinked && !isCommitKnown(snapshot)) return void this.unreadable.add(id);
    // Pages would keep their bytes in memory.
    const bare = { ...header, ...NO_PAGES };
    (isLinked ? this.linked : this.unlinked).set(id, { id, container, level, low, header: bare, version, faults });
  }

  /** A linked one that was merged, or is read again. */
  gone(id: EntityId): void {
    this.linked.delete(id);
  }

  /** One that is missing, emptied or without a readable header; `level` undefined if unlinked. */
  lost(id: EntityId, level: number | undefined, found: Pick<Met, 'low' | 'version' | 'last'>): void {
    if (level !== undefined) this.linked.set(id, lostNode(id, level, found));
    else if (containerOf(id) === undefined) this.isRootLost = true;
    else this.unreadable.add(id);
  }

  /** One that is not whole, and no link led to: perhaps links are lost. A leaf without a header. */
  stray(id: EntityId, low: Position, header: Header | undefined): void {
    const lost = lostNode(id, header?.level ?? 0, { low, version: undefined });
    this.unlinked.set(id, { ...lost, header: header && { ...header, ...NO_PAGES }, faults: 0 });
  }

  /** The header of the root, with which a walk begins. */
  get root(): Header {
    const [root] = this.linked.values();
    if (root?.header === undefined) throw new Error('the walk met no root');
    return root.header;
  }

  /** The linked ones first. */
  get met(): Met[] {
    return [...this.linked.values(), ...this.unlinked.values()];
  }

  /** Any header of the table: all have its order and groups. Undefined if none can be read. */
  get anyHeader(): Header | undefined {
    return this.met.find(({ header }) => header)?.header;
  }

  /** Forgets nodes of other incarnations: tables that were dropped left them. */
  keepOnly(incarnation: Id64): void {
    for (const id of this.unlinked.keys()) if (incarnationOf(id) !== incarnation) this.unlinked.delete(id);
  }

  #levelOf(level: number): readonly Met[] {
    return [...this.linked.values()].filter((met) => met.level === level);
  }

  /** The linked container before `met` on its level. */
  leftOf(met: Met): Met | undefined {
    return this.#beside(met, -1);
  }

  #beside({ id, level }: Met, steps: 1 | -1): Met | undefined {
    const nodes = this.#levelOf(level);
    return nodes[nodes.findIndex((node) => node.id === id) + steps];
  }

  /**
   * The container behind a lost one: the next on its level, or one before that, which no branch
   * names yet. It lies behind the last record left.
   */
  rightOf(met: Met): Start | undefined {
    const next = this.#beside(met, 1);
    const isSeverable = ({ header }: Met): boolean =>
      header?.origin?.id === met.id && header.origin.version === met.version;
    const found = this.#unnamed(met.level, next?.low).find(
      (one) => compareBytes(one.low, met.last ?? met.low) > 0 && !isSeverable(one),
    );
    return found ?? next;
  }

  /** The containers that a branch over this stretch names: those of the level below, in order. */
  childrenOf(level: number, from: Position, to: UpperBound): Start[] {
    const walked = this.#levelOf(level - 1).filter(({ header }) => header?.state !== 'retired');
    const first = walked[0];
    const all = first?.low.length === 0 ? walked : [...this.#chain(level - 1, first?.low), ...walked];
    const within = all.filter(({ low }) => to === undefined || compareBytes(low, to) < 0);
    const owner = within.findLastIndex(({ low }) => compareBytes(low, from) <= 0);
    const children = within.slice(Math.max(0, owner)).map(({ low, container }) => ({ low, container }));
    if (owner >= 0) children[0] = { ...children[0]!, low: from };
    return children;
  }

  /** Follows links from the leftmost unlinked node on; where they break off, goes on behind. */
  #chain(level: number, end: UpperBound): Start[] {
    const nodes = this.#unnamed(level, end);
    const chain: Start[] = [];
    let at: UpperBound = EMPTY_BYTES;
    for (const { low, container, header } of nodes) {
      if (at === undefined || compareBytes(low, at) < 0) continue;
      chain.push({ low, container });
      const { high, right } = header ?? { high: low, right: undefined };
      const isThere = right === undefined || nodes.some((node) => node.container === right);
      // A lost node that a link names: the next walk comes by it.
      const isEnd = high !== undefined && end !== undefined && compareBytes(high, end) >= 0;
      if (!isThere && !isEnd) chain.push({ low: high!, container: right });
      at = high;
    }
    return chain;
  }

  /** Nodes of a level that no link led to, in order; of equal lows the one with most commits. */
  #unnamed(level: number, end: UpperBound): Met[] {
    return [...this.unlinked.values()]
      .filter(({ level: own, header, low }) => {
        const isNode = own === level && (header === undefined || header.state === 'live');
        return isNode && (end === undefined || compareBytes(low, end) < 0);
      })
      .toSorted((a, b) => compareBytes(a.low, b.low) || (b.header?.commitCount ?? 0) - (a.header?.commitCount ?? 0));
  }
}

function lostNode(id: EntityId, level: number, found: Pick<Met, 'low' | 'version' | 'last'>): Met {
  return { id, container: containerOf(id)!, level, header: undefined, faults: 1, ...found };
}
