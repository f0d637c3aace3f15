// A look at a table as it lies in the provider, past every cache and without the engine's own tree walk: what the invariants speak of.
import type { MemoryState } from '../../../shared/drivers/memory.ts';
import { layersOf } from '../../../shared/store/container/layers.ts';
import { mergeLayers } from '../../../shared/store/container/merge.ts';
import { pageOf, type Snapshot, snapshotOf } from '../../../shared/store/container/snapshot.ts';
import { compareBytes, type Id64 } from '../../../shared/store/format/bytes.ts';
import { nodeId, nodesPrefix, rootId } from '../../../shared/store/format/ids.ts';
import type { PageRef } from '../../../shared/store/format/page-table.ts';
import { keyAt, lowerBound, recordAt, recordCount } from '../../../shared/store/format/page.ts';
import { decodeKey, positionsOf, within } from '../../../shared/store/format/position.ts';
import { isTombstone, type StoredRecord } from '../../../shared/store/format/record.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import { hexId } from '../../support/ids.ts';

const NEVER = { tick: 0, wallMs: 0, monotonicMs: 0 };

export interface Level {
  readonly level: number;
  readonly nodes: readonly Snapshot[];
}

/** A stored container, decoded; undefined if there is none. */
export function storedNode(state: MemoryState, table: string, id: EntityId): Snapshot | undefined {
  const entity = state.entities.get(id);
  return entity === undefined ? undefined : snapshotOf({ id, ...entity }, table, NEVER, undefined);
}

export function storedRoot(state: MemoryState, table: string): Snapshot {
  const root = storedNode(state, table, rootId(table));
  if (root === undefined) throw new Error(`there is no root of ${table}`);
  return root;
}

/** All ids of containers of the table but its root, of any incarnation. */
export function storedIds(state: MemoryState, table: string): EntityId[] {
  return [...state.entities.keys()].filter((id) => id.startsWith(nodesPrefix(table)));
}

/** The records that count, in order, tombstones left out. */
function recordsOf(node: Snapshot, table: string): StoredRecord[] {
  const layers = layersOf(node.header).map((rows) => rows.map((ref) => pageOf(node, ref, table)));
  const page = mergeLayers(layers, positionsOf(node.header.order, node.header.level));
  const records = Array.from({ length: recordCount(page) }, (_, index) => recordAt(page, index));
  return records.filter((record) => !isTombstone(record));
}

/** Every level, root first, each from its leftmost node along the right links. */
export function levelsOf(state: MemoryState, table: string): Level[] {
  const root = storedRoot(state, table);
  const levels: Level[] = [];
  let leftmost = root;
  for (;;) {
    const nodes = alongRightLinks(state, table, leftmost);
    levels.push({ level: leftmost.header.level, nodes });
    if (leftmost.header.level === 0) return levels;
    const first = recordsOf(leftmost, table)[0];
    if (first === undefined) throw new Error(`branch ${leftmost.id} has no child`);
    leftmost = linked(state, table, root.header.incarnation, hexId(Buffer.from(first.value).toString('hex')));
  }
}

export function leavesOf(state: MemoryState, table: string): readonly Snapshot[] {
  return levelsOf(state, table).at(-1)!.nodes;
}

/** Ids of stored nodes that no link reaches. */
export function orphansOf(state: MemoryState, table: string): EntityId[] {
  const reached = new Set(levelsOf(state, table).flatMap(({ nodes }) => nodes.map(({ id }) => id)));
  return storedIds(state, table).filter((id) => !reached.has(id));
}

function alongRightLinks(state: MemoryState, table: string, leftmost: Snapshot): Snapshot[] {
  const nodes = [leftmost];
  for (let node = leftmost; node.header.right !== undefined;) {
    node = linked(state, table, node.header.incarnation, node.header.right);
    nodes.push(node);
  }
  return nodes;
}

function linked(state: MemoryState, table: string, incarnation: Id64, container: Id64): Snapshot {
  const node = storedNode(state, table, nodeId(table, incarnation, container));
  if (node === undefined) throw new Error(`the linked container ${container} of ${table} is missing`);
  return node;
}

/** What is wrong with the structure of a table, in words; empty if nothing is. */
export function faultsOf(state: MemoryState, table: string): string[] {
  const faults: string[] = [];
  const { incarnation } = storedRoot(state, table).header;
  const levels = levelsOf(state, table);
  for (const { level, nodes } of levels) {
    let high: Uint8Array | undefined = Buffer.alloc(0);
    for (const node of nodes) {
      const { header } = node;
      const say = (what: string): void => void faults.push(`level ${level} ${node.id}: ${what}`);
      if (header.level !== level) say(`is of level ${header.level}`);
      if (header.incarnation !== incarnation) say('is of another incarnation');
      if (high === undefined || compareBytes(header.low, high) !== 0) say('does not begin where its neighbour ends');
      if ((header.high === undefined) !== (header.right === undefined))
        say('has a high without a right, or a right without a high');
      if (header.high !== undefined && compareBytes(header.low, header.high) >= 0) say('owns nothing');
      if (header.commitIds.length > 128 * 8 || header.commitIds.length % 8 !== 0) say('has a bad list of commit ids');
      faults.push(...pageFaults(node, table).map((fault) => `level ${level} ${node.id}: ${fault}`));
      high = header.high;
    }
    if (high !== undefined) faults.push(`level ${level} does not reach the end`);
  }
  for (const [index, { nodes }] of levels.entries()) {
    const below = levels[index + 1];
    if (below !== undefined) faults.push(...childFaults(nodes, below.nodes, table));
  }
  return faults;
}

function pageFaults(node: Snapshot, table: string): string[] {
  const { header } = node;
  const slots = [...header.pages, ...header.deadSlots].map(({ slot }) => slot);
  const faults = new Set(slots).size === slots.length ? [] : ['a slot is used twice, or dead and used'];
  if (header.level > 0 && header.layers.length > 0) faults.push('a branch has layers');
  const layers = layersOf(header);
  return [...faults, ...layers.flatMap((rows, layer) => layerFaults(node, rows, table, layer === 0))];
}

function layerFaults(node: Snapshot, rows: readonly PageRef[], table: string, isBase: boolean): string[] {
  const faults: string[] = [];
  const { header } = node;
  const place = positionsOf(header.order, header.level);
  let before: Uint8Array | undefined;
  for (const [row, ref] of rows.entries()) {
    if (row === 0 && compareBytes(ref.low, header.low) !== 0) faults.push('the first page does not begin at the low');
    if (ref.number >= header.nextNumber) faults.push(`page number ${ref.number} is not below the next number`);
    const page = pageOf(node, ref, table);
    if (recordCount(page) === 0 || recordCount(page) !== ref.records)
      faults.push(`page ${ref.slot} holds ${recordCount(page)} records`);
    const end = rows[row + 1]?.low ?? header.high;
    for (let index = 0; index < recordCount(page); index += 1) {
      const at = place(keyAt(page, index));
      if (!within(at, ref.low, end)) faults.push(`record ${index} of page ${ref.slot} lies outside it`);
      if (before !== undefined && compareBytes(before, at) >= 0)
        faults.push(`record ${index} of page ${ref.slot} is out of order`);
      if (lowerBound(page, at, place) !== index) faults.push(`record ${index} of page ${ref.slot} is not found`);
      const record = recordAt(page, index);
      if (record.version >= header.nextNumber) faults.push(`a version is not below the next number`);
      if (isBase && isTombstone(record)) faults.push(`page ${ref.slot} of the base holds a tombstone`);
      before = at;
    }
  }
  return faults;
}

/** A branch may not know every node below it, but what it names must be linked, begin at its separator, and lie in its range. */
function childFaults(branches: readonly Snapshot[], below: readonly Snapshot[], table: string): string[] {
  const faults: string[] = [];
  const byContainer = new Map(below.map((node) => [node.header.container, node]));
  for (const branch of branches) {
    const children = recordsOf(branch, table);
    if (children[0] === undefined || compareBytes(children[0].key, branch.header.low) !== 0)
      faults.push(`${branch.id} has no child for the beginning of its range`);
    for (const { key, value } of children) {
      const child = byContainer.get(hexId(Buffer.from(value).toString('hex')));
      if (child === undefined) faults.push(`${branch.id} names a node that is not linked on the level below`);
      else if (compareBytes(child.header.low, key) !== 0)
        faults.push(`${branch.id} names ${child.id} under another low`);
    }
  }
  return faults;
}

/** Keys of all stored records, leaf by leaf. */
export function storedKeys(state: MemoryState, table: string): string[] {
  return leavesOf(state, table).flatMap((leaf) => recordsOf(leaf, table).map((record) => decodeKey(record.key)));
}
