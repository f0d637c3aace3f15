// The rows of a branch: which child owns a position, and all children in order.
import { asBuffer, id64, type Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { recordAt, recordCount } from '../format/page.ts';
import type { Position } from '../format/position.ts';
import { rowBefore } from './layers.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

/** Index of the row of a branch that owns `position`; -1 if there is none. Branches have no layers. */
export function rowOfBranch({ pages }: Header, position: Position): number {
  return rowBefore(pages, 0, pages.length, position);
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
