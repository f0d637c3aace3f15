// Which incarnations of a table were dropped, as its roots hand it on: what is left of them is garbage. A root that was created where none was
// knows of none: what lies there beside it may be all that is left of a table whose root was lost (rule 17).
import type { EntityId, EntityVersion } from '../contract/driver.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';

/** Nothing that was sent before so many drops is still on its way. */
const DROPS_KEPT = 8;

/** The incarnations that were dropped, the last first, as a root tells that is live or a tombstone. */
function droppedOf({ state, incarnation, origin }: Header): readonly string[] {
  const before = origin === undefined ? [] : origin.version.split('!');
  return state === 'removed' ? [incarnation, ...before] : before;
}

/** Whether everything of this incarnation was removed once, and only then another could begin. */
export function wasDropped(root: Header, incarnation: Id64): boolean {
  return droppedOf(root).includes(incarnation);
}

/** The origin of a root that takes the place of a tombstone. */
export function originInPlaceOf(tombstone: Header, root: EntityId): Header['origin'] {
  return { id: root, version: droppedOf(tombstone).slice(0, DROPS_KEPT).join('!') as EntityVersion };
}
