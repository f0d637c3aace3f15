// Sorts waiting changes by a container's header: into those of its next commit, and the others.
import { orderChanged } from '../contract/errors.ts';
import { asName } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { groupOf } from '../format/position.ts';
import { locate } from './branch.ts';
import { byPosition, type Change } from './change.ts';

/** The most bytes of changes in one commit. */
const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

/** Changes by where `locate` finds them. All lists but the first are in the order of arrival. */
export interface SortedChanges {
  /** For the next commit, sorted by position. */
  readonly here: Change[];
  /** For later commits, as they do not fit into the next. */
  readonly later: Change[];
  readonly right: Change[];
  readonly gone: Change[];
  readonly restart: Change[];
}

/** A commit takes at most `countMax` changes. Fails changes that were made for another order. */
export function sortChanges(
  changes: readonly Change[],
  header: Header,
  { countMax, table }: { readonly countMax: number; readonly table: string },
): SortedChanges {
  const sorted: SortedChanges = { here: [], later: [], right: [], gone: [], restart: [] };
  const groups: Groups = new Map();
  let bytes = 0;
  for (const change of changes) {
    if (change.isSettled) continue;
    const found = locate(header, change.position, change.level);
    const isReached = found === 'here' || found === 'right';
    if (isReached && change.order !== undefined && change.order !== header.order)
      change.settle({ kind: 'failed', error: orderChanged(table) });
    else if (found === 'here') {
      const hasRoom =
        sorted.here.length < countMax && bytes < COMMIT_BYTES_MAX && mayShare(change, sorted.here, groups, header);
      (hasRoom ? sorted.here : sorted.later).push(change);
      bytes += change.bytes;
    } else sorted[found].push(change);
  }
  sorted.here.sort(byPosition);
  return sorted;
}

/** For each group of a commit's changes: whether one of them is a batch. */
type Groups = Map<string, boolean>;

/** A clear has a commit to itself. A batch shares one only with other groups (rule 34). */
function mayShare(change: Change, [first]: readonly Change[], groups: Groups, { groupBy }: Header): boolean {
  const isWhole = change.whole !== undefined;
  if (groupBy === undefined) return first === undefined || (!isWhole && first.whole === undefined);
  if (first !== undefined && (first.whole?.kind === 'clear' || change.whole?.kind === 'clear')) return false;
  const name = asName(groupOf(change.position, groupBy));
  const hasBatch = groups.get(name);
  if (hasBatch === true || (hasBatch === false && isWhole)) return false;
  groups.set(name, isWhole);
  return true;
}
