// Where a position lies as one node shows it: by its fences and, in a branch, by its children.
import { StoreError } from '../contract/errors.ts';
import { compareBytes, id64, type Id64 } from '../format/bytes.ts';
import type { Header, SplitPart } from '../format/header.ts';
import {
  keyAt,
  lowerBound,
  type Page,
  recordAt,
  recordCount,
  recordsOf,
  type StoredRecord,
} from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound, type Position, positionsOf, type UpperBound } from '../format/position.ts';
import { rowBefore } from './layers.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

/**
 * Where a position of `level` lies, by a node's fences. `right`: at its right neighbour or beyond.
 * `gone`: the node is retired, so its content is moving to the left (rule 28). `restart`: search
 * again from the root, as the position is to the left, the level differs or the table was dropped.
 */
export function locate(header: Header, position: Position, level: number): 'here' | 'right' | 'gone' | 'restart' {
  if (header.level !== level) return 'restart';
  if (header.state === 'retired' || header.state === 'merged') return 'gone';
  if (header.state !== 'live' || compareBytes(position, header.low) < 0) return 'restart';
  if (beforeBound(position, header.high)) return 'here';
  return header.high === undefined || header.right === undefined ? 'restart' : 'right';
}

/** The page that names the child for `position`; undefined in a damaged branch. */
export function pageToChild({ header: { pages } }: Snapshot, position: Position): PageRef | undefined {
  return pages[rowBefore(pages, 0, pages.length, position)];
}

/** The last node named to the right that does not begin above `position`, if any. */
export function splitPartFor({ lastSplit, high }: Header, position: Position): SplitPart | undefined {
  const part = lastSplit?.parts.findLast(({ low }) => compareBytes(low, position) <= 0);
  return part !== undefined && high !== undefined && compareBytes(part.low, high) >= 0 ? part : undefined;
}

export interface Child {
  /** Its separator. */
  readonly low: Position;
  readonly child: Id64;
  /** The separator of the next child. */
  readonly end: UpperBound;
}

/** The last child not above `position`. Its page must be known. Throws `corrupt` without one. */
export function childFor(branch: Snapshot, position: Position, table: string): Child {
  const { order, level, pages } = branch.header;
  const row = rowBefore(pages, 0, pages.length, position);
  const ref = pages[row];
  if (ref !== undefined) {
    const page = pageOf(branch, ref, table);
    const at = lowerBound(page, position, positionsOf(order, level));
    const isExact = at < recordCount(page) && compareBytes(keyAt(page, at), position) === 0;
    const index = isExact ? at : at - 1;
    if (index >= 0) return childAt(branch, row, page, index);
  }
  throw new StoreError('corrupt', 'a branch has no child for a position it owns', { table, container: branch.id });
}

/** The last child below `bound`, or the one `skipped` before it, if any. Needs all pages. */
export function childBelow(branch: Snapshot, bound: Position, table: string, skipped = 0): Child | undefined {
  const { order, level, pages } = branch.header;
  let first: Child | undefined;
  let left = skipped;
  // If a page begins exactly at the bound, the child is in the page before it.
  for (let row = rowBefore(pages, 0, pages.length, bound); row >= 0; row -= 1) {
    const page = pageOf(branch, pages[row]!, table);
    const index = lowerBound(page, bound, positionsOf(order, level)) - 1;
    if (index >= left) return childAt(branch, row, page, index - left);
    if (index >= 0) first = childAt(branch, row, page, 0);
    left -= index + 1;
  }
  return first;
}

function childAt({ header: { pages, high } }: Snapshot, row: number, page: Page, index: number): Child {
  const end = index + 1 < recordCount(page) ? keyAt(page, index + 1) : (pages[row + 1]?.low ?? high);
  return { low: keyAt(page, index), child: id64(recordAt(page, index).value), end };
}

/** A child and its separator. */
export type RoutingEntry = Pick<Child, 'low' | 'child'>;

/** The record that stores a routing entry in its branch. */
export function entryRecord({ low, container }: Pick<Header, 'low' | 'container'>, version: number): StoredRecord {
  return { key: low, version, expiresAtMs: undefined, codec: 0, value: Buffer.from(container, 'hex') };
}

/** All children of a branch with their separators, in order. Its pages must be known. */
export function childrenOf(branch: Snapshot, table: string): RoutingEntry[] {
  return branch.header.pages.flatMap((ref) => childrenIn(pageOf(branch, ref, table)));
}

/** The children in one page of a branch. */
export function childrenIn(page: Page): RoutingEntry[] {
  return recordsOf(page).map(({ key, value }) => ({ low: key, child: id64(value) }));
}

/**
 * Up to `count` separators above `low`, as far as pages are known. Successive entries for one
 * child, which absorbed its neighbours, count as one.
 */
export function separatorsAfter(branch: Snapshot, low: Position, count: number, table: string): Position[] {
  const { order, level, pages, high } = branch.header;
  const separators: Position[] = [];
  let before: Uint8Array | undefined;
  for (const ref of pages.slice(Math.max(0, rowBefore(pages, 0, pages.length, low)))) {
    if (separators.length >= count) return separators.slice(0, count);
    if (!ref.content.isKnown) return compareBytes(ref.low, low) > 0 ? [...separators, ref.low] : separators;
    const page = pageOf(branch, ref, table);
    const first = Math.max(0, lowerBound(page, low, positionsOf(order, level)) - 1);
    for (let index = first; index < recordCount(page) && separators.length < count; index += 1) {
      const { key, value: child } = recordAt(page, index);
      const isAnother = before === undefined || compareBytes(child, before) !== 0;
      if (isAnother && compareBytes(key, low) > 0) separators.push(key);
      before = child;
    }
  }
  if (high !== undefined && compareBytes(high, low) > 0) separators.push(high);
  return separators.slice(0, count);
}
