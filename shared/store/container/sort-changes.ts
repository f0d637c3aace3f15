// Which waiting changes a container's next commit takes, and which belong elsewhere, by its header.
import { orderChanged } from '../contract/errors.ts';
import type { Header } from '../format/header.ts';
import { locate } from './branch.ts';
import { byPosition, type Change } from './change.ts';

/** Bytes of changes in one commit, at most. */
const GROUP_BYTES_MAX = 4 * 1024 * 1024;

/** As `locate` finds them; each list in the order in which the changes came, but for the first. */
export interface SortedChanges {
  /** For one commit, in order of position. */
  readonly here: Change[];
  /** For later commits: one would be too large. */
  readonly later: Change[];
  readonly right: Change[];
  readonly gone: Change[];
  readonly restart: Change[];
}

/** Fails changes for a table of another order. `countMax`: in one commit. */
export function sortChanges(
  changes: readonly Change[],
  header: Header,
  { countMax, table }: { readonly countMax: number; readonly table: string },
): SortedChanges {
  const sorted: SortedChanges = { here: [], later: [], right: [], gone: [], restart: [] };
  let bytes = 0;
  for (const change of changes) {
    if (change.isSettled) continue;
    const found = locate(header, change.position, change.level);
    const isReached = found === 'here' || found === 'right';
    if (isReached && change.order !== undefined && change.order !== header.order)
      change.settle({ kind: 'failed', error: orderChanged(table) });
    else if (found === 'here') {
      const hasRoom = sorted.here.length < countMax && bytes < GROUP_BYTES_MAX && mayShare(change, sorted.here);
      (hasRoom ? sorted.here : sorted.later).push(change);
      bytes += change.bytes;
    } else sorted[found].push(change);
  }
  sorted.here.sort(byPosition);
  return sorted;
}

/** A whole change has a commit to itself. */
function mayShare(change: Change, [first]: readonly Change[]): boolean {
  return first === undefined || (first.whole === undefined && change.whole === undefined);
}
