// Ids of entities, and names of their parts. FORMAT.md, "Entities and their parts":
//   t!NAME!                        the root of a table: its id is fixed
//   n!NAME!INCARNATION!CONTAINER   any other node: its container id is drawn afresh and never used again
// A name cannot hold `!`, so no table's ids begin with another's.
import type { EntityId, PartName } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { type Id64, ROOT_CONTAINER } from './bytes.ts';

/** What the ids of all roots begin with. */
export const ROOT_PREFIX = 't!';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** The container's header. */
export const HEADER_PART = 'h' as PartName;

/** The id of the last commit, 8 bytes: what a reader asks for to learn whether anything changed. */
export const COMMIT_PART = 'c' as PartName;

/** Throws `invalid` unless the name is 1 to 63 ASCII letters, digits, `.`, `_`, `-`, beginning with a letter or digit. */
export function checkTableName(name: string): void {
  if (typeof name !== 'string') throw new TypeError(`a table name is a string, not ${typeof name}`);
  if (NAME.test(name)) return;
  const rule = 'use 1 to 63 ASCII letters, digits, ".", "_" or "-", beginning with a letter or digit';
  throw new StoreError('invalid', `bad table name ${JSON.stringify(name.slice(0, 80))}: ${rule}`);
}

/** The root of a table, of any incarnation. */
export function rootId(table: string): EntityId {
  return `${ROOT_PREFIX}${table}!` as EntityId;
}

/** The table whose root this is. */
export function tableOfRoot(id: EntityId): string {
  return id.slice(ROOT_PREFIX.length, -1);
}

/** What the ids of all nodes of a table, of any incarnation, begin with. */
export function nodesPrefix(table: string): string {
  return `n!${table}!`;
}

/** What the ids of one incarnation's nodes begin with, its root's excepted. */
export function incarnationPrefix(table: string, incarnation: Id64): string {
  return `${nodesPrefix(table)}${incarnation}!`;
}

/** The entity of a container: the root if the container is `ROOT_CONTAINER`. */
export function nodeId(table: string, incarnation: Id64, container: Id64): EntityId {
  if (container === ROOT_CONTAINER) return rootId(table);
  return `${incarnationPrefix(table, incarnation)}${container}` as EntityId;
}

/** The part that holds the page in a slot. */
export function pagePart(slot: number): PartName {
  return `p${slot}` as PartName;
}

/** The slot whose page lies in this part; undefined for the parts of the header. */
export function slotOfPart(name: PartName): number | undefined {
  return name.startsWith('p') ? Number(name.slice(1)) : undefined;
}

/** The incarnation in a node's id; the empty string for a root, whose id has none. */
export function incarnationOf(id: EntityId): Id64 {
  return (id.split('!')[2] ?? '') as Id64;
}
