// A table as one verification saw it: where each container lies, including the unreadable ones.
import { isCommitKnown } from '../container/check.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId, EntityVersion } from '../contract/driver.ts';
import { compareBytes, EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { type Header, NO_PAGES } from '../format/header.ts';
import { containerOf, incarnationOf } from '../format/ids.ts';
import type { Position, UpperBound } from '../format/position.ts';

/** A container, with the fields of its header as far as they are known. */
export interface Met {
  readonly id: EntityId;
  readonly container: Id64;
  readonly level: number;
  readonly low: Position;
  readonly header: Header | undefined;
  /** Undefined for one that is missing. */
  readonly version: EntityVersion | undefined;
  /** The last readable record of a leaf whose header cannot be read. */
  readonly last?: Position | undefined;
  readonly faults: number;
}

export type Start = Pick<Met, 'low' | 'container'>;

/** Is told of each container in the order of the walk, and again of one that is read again. */
export class Sketch {
  /** In the order of the walk: level by level from the root, from left to right. */
  readonly linked = new Map<EntityId, Met>();
  readonly unlinked = new Map<EntityId, Met>();
  /** Neither linked nor readable. */
  readonly unreadable = new Set<EntityId>();
  isRootLost = false;
  /** The highest number or commit count that any header names. */
  most = 0;

  /** A container with a readable header. `isLinked`: a link led there. */
  node(snapshot: Snapshot, isLinked: boolean, faults: number): void {
    const { id, version, header } = snapshot;
    const { container, level, low } = header;
    this.most = Math.max(this.most, header.nextNumber, header.commitCount);
    // Vacuum cannot judge a container that lacks its commit id.
    if (!isLinked && !isCommitKnown(snapshot)) return void this.unreadable.add(id);
    // Its pages would keep their bytes in memory.
    const bare = { ...header, ...NO_PAGES };
    (isLinked ? this.linked : this.unlinked).set(id, { id, container, level, low, header: bare, version, faults });
  }

  /** A linked container was merged, or will be read again. */
  gone(id: EntityId): void {
    this.linked.delete(id);
  }

  /** A container is missing, emptied, or has no readable header; `level` undefined: unlinked. */
  lost(id: EntityId, level: number | undefined, found: Pick<Met, 'low' | 'version' | 'last'>): void {
    if (level !== undefined) this.linked.set(id, lostNode(id, level, found));
    else if (containerOf(id) === undefined) this.isRootLost = true;
    else this.unreadable.add(id);
  }

  /** An unreadable container without a link may belong there. Without a header it is a leaf. */
  stray(id: EntityId, low: Position, header: Header | undefined): void {
    const lost = lostNode(id, header?.level ?? 0, { low, version: undefined });
    this.unlinked.set(id, { ...lost, header: header && { ...header, ...NO_PAGES }, faults: 0 });
  }

  /** The header of the root. */
  get root(): Header {
    const [root] = this.linked.values();
    if (root?.header === undefined) throw new Error('the walk met no root');
    return root.header;
  }

  /** All containers, the linked ones first. */
  get met(): Met[] {
    return [...this.linked.values(), ...this.unlinked.values()];
  }

  /** Any header, since all have the table's order and groups. Undefined if none can be read. */
  get anyHeader(): Header | undefined {
    return this.met.find(({ header }) => header)?.header;
  }

  /** Forgets nodes of other incarnations, which dropped tables left behind. */
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
   * The container that follows a lost one: the next on its level, or one before that which no
   * branch names yet. It begins beyond the last record that the lost one still has.
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

  /** The containers of the level below that a branch over this stretch must name, in order. */
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

  /** Follows links from the leftmost unlinked node, and skips over gaps. */
  #chain(level: number, end: UpperBound): Start[] {
    const nodes = this.#unnamed(level, end);
    const chain: Start[] = [];
    let at: UpperBound = EMPTY_BYTES;
    for (const { low, container, header } of nodes) {
      if (at === undefined || compareBytes(low, at) < 0) continue;
      chain.push({ low, container });
      const { high, right } = header ?? { high: low, right: undefined };
      const isThere = right === undefined || nodes.some((node) => node.container === right);
      // A link names a lost node, which the next walk will meet.
      const isEnd = high !== undefined && end !== undefined && compareBytes(high, end) >= 0;
      if (!isThere && !isEnd) chain.push({ low: high!, container: right });
      at = high;
    }
    return chain;
  }

  /** Nodes of a level that no link led to, in order; of equal lows first the most written. */
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
