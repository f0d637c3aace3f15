// Finding the way by one node: what its fences say of a position, and, of a branch, which child owns it.
import { StoreError } from '../contract/errors.ts';
import { asBuffer, compareBytes, id64, type Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { keyAt, lowerBound, recordAt, recordCount } from '../format/page.ts';
import { beforeBound, type Position, positionsOf, type UpperBound } from '../format/position.ts';
import { rowBefore } from './layers.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

/**
 * What the fences of a node say of a position that is sought on `level`: it is `here`; it is to the `right`, and the header names that
 * neighbour and where it begins; or it must be sought again from the root (`restart`): it lies to the left, the level is another, the node is dead.
 */
export function locate(header: Header, position: Position, level: number): 'here' | 'right' | 'restart' {
  const isLeft = compareBytes(position, header.low) < 0;
  if (header.state !== 'live' || header.level !== level || isLeft) return 'restart';
  if (beforeBound(position, header.high)) return 'here';
  return header.high === undefined || header.right === undefined ? 'restart' : 'right';
}

/**
 * The child whose separator is the last one not above `position`, which the branch owns, and where the next child begins. The branch must be
 * whole. Throws `corrupt` if there is no such child.
 */
export function childFor(
  branch: Snapshot,
  position: Position,
  table: string,
): { readonly child: Id64; readonly end: UpperBound } {
  const { order, level, pages, high } = branch.header;
  const positionOf = positionsOf(order, level);
  // Branches have no layers.
  for (let row = rowBefore(pages, 0, pages.length, position); row >= 0; row -= 1) {
    const page = pageOf(branch, pages[row]!, table);
    const at = lowerBound(page, position, positionOf);
    const isExact = at < recordCount(page) && compareBytes(keyAt(page, at), position) === 0;
    const index = isExact ? at : at - 1;
    if (index < 0) continue;
    const end = index + 1 < recordCount(page) ? keyAt(page, index + 1) : (pages[row + 1]?.low ?? high);
    return { child: id64(asBuffer(recordAt(page, index).value)), end };
  }
  throw new StoreError('corrupt', 'a branch has no child for a position it owns', { table, container: branch.id });
}

/** All children of a branch with their separators, in order. */
export function childrenOf(branch: Snapshot, table: string): { readonly low: Position; readonly child: Id64 }[] {
  return branch.header.pages.flatMap((ref) => {
    const page = pageOf(branch, ref, table);
    return Array.from({ length: recordCount(page) }, (_, index) => {
      const { key, value } = recordAt(page, index);
      return { low: key, child: id64(asBuffer(value)) };
    });
  });
}
