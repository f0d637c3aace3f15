// Makes nodes for tests, without a provider.
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { sealPage } from '../../../shared/store/container/new-pages.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { nodeId, rootId } from '../../../shared/store/format/entity-ids.ts';
import { ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import { PageContent, type PageRef } from '../../../shared/store/format/page-table.ts';
import { pageFrom, type StoredRecord } from '../../../shared/store/format/page-body.ts';
import { entityVersion, hexId } from '../../support/ids.ts';

export const TABLE = 't';
export const RULES = { table: TABLE, limits: memoryDriver().limits, compression: 'none', pageBytes: 1_024 } as const;

/** An empty leaf that owns everything, of table `t` with order `key`. */
export const EMPTY_LEAF: Header = {
  order: 'key',
  groupBy: undefined,
  state: 'live',
  incarnation: hexId('aaaaaaaaaaaaaaaa'),
  container: hexId('bbbbbbbbbbbbbbbb'),
  level: 0,
  low: Buffer.alloc(0),
  high: undefined,
  right: undefined,
  origin: undefined,
  nextNumber: 50,
  commitCount: 1,
  commitIds: Buffer.alloc(0),
  createdAtMs: 0,
  deadSlots: [],
  pages: [],
  layers: [],
  freezeMs: 0,
  lastSplit: undefined,
};

export function snapshotWith(header: Partial<Header>, tick = 0): Snapshot {
  const full = { ...EMPTY_LEAF, ...header };
  const isRoot = full.container === ROOT_CONTAINER;
  const id = isRoot ? rootId(TABLE) : nodeId(TABLE, full.incarnation, full.container);
  const version = entityVersion(String(full.commitCount));
  return {
    id,
    version,
    header: full,
    lastCommit: hexId('cccccccccccccccc'),
    seen: { tick, wallMs: 0, monotonicMs: 0 },
  };
}

/** A record of version 1 that does not expire. */
export function recordOf(key: string, value: Buffer = Buffer.from('v')): StoredRecord {
  return { key: Buffer.from(key), value, version: 1, expiresAtMs: undefined, codec: 0 };
}

/** A page of a leaf or a branch. It begins at its first record, or at `low`. */
export function pageOfRecords(
  slot: number,
  records: readonly (readonly [key: string, value: Buffer])[],
  { low = records[0]![0], level = 0 } = {},
): PageRef {
  const page = pageFrom(records.map(([key, value]) => recordOf(key, value)));
  return sealPage(page, { ...EMPTY_LEAF, level }, { low: Buffer.from(low), slot, number: slot + 1 }, RULES);
}

/** A page of a branch, from separators to the digits that the children's ids repeat. */
export function pageOfChildren(slot: number, children: Readonly<Record<string, string>>): PageRef {
  const records = Object.entries(children).map(([low, digit]) => [low, Buffer.from(childId(digit), 'hex')] as const);
  return pageOfRecords(slot, records, { level: 1 });
}

export function childId(digit: string) {
  return hexId(digit.repeat(16));
}

/** The node with each row changed. */
export function withRows(snapshot: Snapshot, row: (ref: PageRef) => PageRef): Snapshot {
  return { ...snapshot, header: { ...snapshot.header, pages: snapshot.header.pages.map(row) } };
}

/** The row without its page in memory. */
export function unread(ref: PageRef): PageRef {
  return { ...ref, content: new PageContent() };
}
