// Which waiting changes a container's next commit takes, and which belong elsewhere, by its header.
import { orderChanged } from '../contract/errors.ts';
import { asName } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { groupOf } from '../format/position.ts';
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
        sorted.here.length < countMax && bytes < GROUP_BYTES_MAX && mayShare(change, sorted.here, groups, header);
      (hasRoom ? sorted.here : sorted.later).push(change);
      bytes += change.bytes;
    } else sorted[found].push(change);
  }
  sorted.here.sort(byPosition);
  return sorted;
}

/** The groups of a commit's changes, by name, and whether a batch is there. */
type Groups = Map<string, boolean>;

/** A clear goes alone; a batch goes with changes of other groups, as it is decided apart. */
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
