// A made-up table's entities, built by the store's own encoders. Nobody changes them (overlay.ts).
import { LRUCache } from 'lru-cache';
import type { StoredEntity } from '../../../drivers/memory/effects.ts';
import { sealPage } from '../../../store/container/seal-page.ts';
import { chunksOf, type EntityId, type EntityVersion, type PartName } from '../../../store/contract/driver.ts';
import { EMPTY_BYTES, type Id64, ROOT_CONTAINER } from '../../../store/format/bytes.ts';
import { encodeHeader, type Header, NO_PAGES } from '../../../store/format/header.ts';
import { COMMIT_PART, HEADER_PART, incarnationPrefix, nodeId, pagePart, rootId } from '../../../store/format/ids.ts';
import type { PageRef } from '../../../store/format/page-table.ts';
import { type Page, lowBetween, recordCount } from '../../../store/format/page.ts';
import { type Position, positionsOf } from '../../../store/format/position.ts';
import { MADE_UP_INCARNATION, type MadeUpTable, MadeUpTree, type NodePlace } from './made-up.ts';

/** The version of everything made up; given-out versions begin with another letter. */
const MADE_UP_VERSION = 'made-up' as EntityVersion;
/** 2026-11-01. */
const CREATED_AT_MS = 1_793_491_200_000;
const ORDER = 'key';

/** Memory holds the nodes made up last, up to `recentBytesMax`. */
export class MadeUpEntities {
  readonly tree: MadeUpTree;
  readonly #recent: LRUCache<EntityId, StoredEntity>;
  readonly #prefix: string;
  readonly #root: EntityId;

  constructor(table: MadeUpTable, recentBytesMax: number) {
    this.tree = new MadeUpTree(table);
    this.#root = rootId(table.table);
    this.#prefix = incarnationPrefix(table.table, MADE_UP_INCARNATION);
    this.#recent = new LRUCache({ maxSize: recentBytesMax, sizeCalculation: bytesOf });
  }

  get(id: EntityId): StoredEntity | undefined {
    const recent = this.#recent.get(id);
    if (recent !== undefined) return recent;
    const place = this.#placeOf(id);
    if (place === undefined) return undefined;
    const entity = madeUpEntity(this.tree, place);
    this.#recent.set(id, entity);
    return entity;
  }

  /** Costs as much as the table has nodes. */
  *keys(): Generator<EntityId> {
    const { counts, table } = this.tree;
    for (const [level, count] of counts.entries())
      for (let index = 0; index < count; index += 1)
        yield nodeId(table.table, MADE_UP_INCARNATION, this.tree.containerOf({ level, index }));
  }

  #placeOf(id: EntityId): NodePlace | undefined {
    if (id === this.#root) return this.tree.placeOf(ROOT_CONTAINER);
    return id.startsWith(this.#prefix) ? this.tree.placeOf(id.slice(this.#prefix.length) as Id64) : undefined;
  }
}

function bytesOf({ parts }: StoredEntity): number {
  let bytes = 0;
  for (const part of parts.values()) bytes += part.length;
  return bytes;
}

function madeUpEntity(tree: MadeUpTree, place: NodePlace): StoredEntity {
  const header = headerOf(tree, place);
  // Each node was inserted by an attempt of its own.
  const attempt = header.container === ROOT_CONTAINER ? MADE_UP_INCARNATION : header.container;
  const parts = new Map<PartName, Uint8Array>([
    [HEADER_PART, encodeHeader(header)],
    [COMMIT_PART, Buffer.from(attempt, 'hex')],
  ]);
  for (const { slot, content } of header.pages) parts.set(pagePart(slot), content.sealed!);
  const { limits } = tree.rules;
  const chunksPeak = new Map([...parts].map(([name, bytes]) => [name, chunksOf(bytes.length, limits)]));
  return { version: MADE_UP_VERSION, parts, chunksPeak };
}

/** As an insert leaves a node, without commits and layers. */
function headerOf(tree: MadeUpTree, place: NodePlace): Header {
  const { level, index } = place;
  const isLast = index === tree.counts[level]! - 1;
  const next = { level, index: index + 1 };
  const empty: Header = {
    order: ORDER,
    groupBy: undefined,
    state: 'live',
    incarnation: MADE_UP_INCARNATION,
    container: tree.containerOf(place),
    level,
    low: tree.lowOf(place),
    high: isLast ? undefined : tree.lowOf(next),
    right: isLast ? undefined : tree.containerOf(next),
    nextNumber: 1,
    commitCount: 0,
    commitIds: EMPTY_BYTES,
    createdAtMs: CREATED_AT_MS,
    origin: undefined,
    ...NO_PAGES,
  };
  const pages = tree.pagesOf(place);
  const records = pages.reduce((sum, page) => sum + recordCount(page), 0);
  // Records have the versions from 1 on, pages the numbers after them.
  const rows = pages.map((page, slot): PageRef =>
    sealPage(page, empty, { low: pageLow(empty, pages, slot), slot, number: records + 1 + slot }, tree.rules),
  );
  return { ...empty, pages: rows, nextNumber: records + 1 + rows.length };
}

function pageLow(header: Header, pages: readonly Page[], slot: number): Position {
  return slot === 0 ? header.low : lowBetween(pages[slot - 1]!, pages[slot]!, header, positionsOf(ORDER, header.level));
}
