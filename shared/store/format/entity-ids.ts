// FORMAT.md, "Entities and their parts". A name holds no `!`: no table's ids begin with another's.
import type { EntityId, PartName } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { type Id64, ROOT_CONTAINER } from './bytes.ts';

/** All ids of roots begin so. */
export const ROOT_PREFIX = 't!';

/** A table's name. */
export const TABLE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const HEADER_PART = 'h' as PartName;

/** The id of the last commit, 8 bytes. A reader asks for it to learn whether anything changed. */
export const COMMIT_PART = 'c' as PartName;

/** Throws `invalid` for a name of another form. */
export function checkTableName(name: string): void {
  if (typeof name !== 'string') throw new TypeError(`a table name is a string, not ${typeof name}`);
  if (TABLE_NAME.test(name)) return;
  const rule = 'use 1 to 63 ASCII letters, digits, ".", "_" or "-", beginning with a letter or digit';
  throw new StoreError('invalid', `bad table name ${JSON.stringify(name.slice(0, 80))}: ${rule}`);
}

/** The same for every incarnation. */
export function rootId(table: string): EntityId {
  return `${ROOT_PREFIX}${table}!` as EntityId;
}

export function tableOfRoot(id: EntityId): string {
  return id.slice(ROOT_PREFIX.length, -1);
}

/** Begins the ids of a table's nodes, the root's excepted, of all incarnations. */
export function nodesPrefix(table: string): string {
  return `n!${table}!`;
}

/** Begins the ids of one incarnation's nodes, the root's excepted. */
export function incarnationPrefix(table: string, incarnation: Id64): string {
  return `${nodesPrefix(table)}${incarnation}!`;
}

/** `ROOT_CONTAINER` gives the root's. */
export function nodeId(table: string, incarnation: Id64, container: Id64): EntityId {
  if (container === ROOT_CONTAINER) return rootId(table);
  return `${incarnationPrefix(table, incarnation)}${container}` as EntityId;
}

export function pagePart(slot: number): PartName {
  return `p${slot}` as PartName;
}

/** Undefined for a part that holds no page. */
export function slotOfPart(name: PartName): number | undefined {
  return name.startsWith('p') ? Number(name.slice(1)) : undefined;
}

/** The empty string for a root, as its id has none. */
export function incarnationOf(id: EntityId): Id64 {
  return (id.split('!')[2] ?? '') as Id64;
}

/** Undefined for a root, as its id has none. */
export function containerOf(id: EntityId): Id64 | undefined {
  return id.split('!')[3] as Id64 | undefined;
}
