// A table's roots hand on which incarnations were dropped: their nodes are garbage. A root created
// where none was knows none: other nodes may be of a table that lost its root (rule 17).
import type { EntityId, EntityVersion } from '../contract/driver.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';

/** No request is still on its way after as many drops. */
const DROPS_KEPT = 8;

/** The dropped incarnations that a live root or a tombstone knows, the last first. */
function droppedOf({ state, incarnation, origin }: Header): readonly string[] {
  const before = origin === undefined ? [] : origin.version.split('!');
  return state === 'removed' ? [incarnation, ...before] : before;
}

/** Whether a drop finished removing this incarnation. */
export function wasDropped(root: Header, incarnation: Id64): boolean {
  return droppedOf(root).includes(incarnation);
}

/** The origin of a root that replaces a tombstone. */
export function originInPlaceOf(tombstone: Header, root: EntityId): Header['origin'] {
  return { id: root, version: droppedOf(tombstone).slice(0, DROPS_KEPT).join('!') as EntityVersion };
}
