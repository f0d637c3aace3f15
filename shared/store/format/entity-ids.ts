// Ids of entities and names of their parts (FORMAT.md, "Entities and their parts"). A table's name
// contains no `!`, so the ids of one table never begin like those of another.
import type { EntityId, PartName } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { type Id64, ROOT_CONTAINER } from './bytes.ts';

/** The ids of all roots begin with this. */
export const ROOT_PREFIX = 't!';

/** What a table may be called. */
export const TABLE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const HEADER_PART = 'h' as PartName;

/** The id of the last commit, 8 bytes. Reading it alone shows whether anything has changed. */
export const COMMIT_PART = 'c' as PartName;

/** Throws `invalid` for a malformed name. */
export function checkTableName(name: string): void {
  if (typeof name !== 'string') throw new TypeError(`a table name is a string, not ${typeof name}`);
  if (TABLE_NAME.test(name)) return;
  const rule = 'use 1 to 63 ASCII letters, digits, ".", "_" or "-", beginning with a letter or digit';
  throw new StoreError('invalid', `bad table name ${JSON.stringify(name.slice(0, 80))}: ${rule}`);
}

/** The id of a table's root, which is the same for every incarnation. */
export function rootId(table: string): EntityId {
  return `${ROOT_PREFIX}${table}!` as EntityId;
}

export function tableOfRoot(id: EntityId): string {
  return id.slice(ROOT_PREFIX.length, -1);
}

/** What the ids of a table's nodes begin with, in all incarnations, except for the root's. */
export function nodesPrefix(table: string): string {
  return `n!${table}!`;
}

/** What the ids of one incarnation's nodes begin with, except for the root's. */
export function incarnationPrefix(table: string, incarnation: Id64): string {
  return `${nodesPrefix(table)}${incarnation}!`;
}

/** The entity id of a node; `ROOT_CONTAINER` is the root's container id. */
export function nodeId(table: string, incarnation: Id64, container: Id64): EntityId {
  if (container === ROOT_CONTAINER) return rootId(table);
  return `${incarnationPrefix(table, incarnation)}${container}` as EntityId;
}

export function pagePart(slot: number): PartName {
  return `p${slot}` as PartName;
}

/** The slot of a page's part; undefined for the other parts. */
export function slotOfPart(name: PartName): number | undefined {
  return name.startsWith('p') ? Number(name.slice(1)) : undefined;
}

/** The incarnation in a node's id; the empty string for a root, whose id has none. */
export function incarnationOf(id: EntityId): Id64 {
  return (id.split('!')[2] ?? '') as Id64;
}

/** The container id in a node's id; undefined for a root, whose id has none. */
export function containerOf(id: EntityId): Id64 | undefined {
  return id.split('!')[3] as Id64 | undefined;
}
