// A table as it lies in the provider, read past every cache and without the engine's tree walk.
import type { MemoryState } from '../../../shared/drivers/memory.ts';
import { layersOf } from '../../../shared/store/container/layers.ts';
import { mergeLayers } from '../../../shared/store/container/merge.ts';
import { pageOf, type Snapshot, snapshotOf } from '../../../shared/store/container/snapshot.ts';
import type { Id64 } from '../../../shared/store/format/bytes.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { nodeId, nodesPrefix, rootId } from '../../../shared/store/format/ids.ts';
import { recordAt, recordCount } from '../../../shared/store/format/page.ts';
import { decodeKey, positionsOf } from '../../../shared/store/format/position.ts';
import { isTombstone, type StoredRecord } from '../../../shared/store/format/record.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import { Provider } from '../../simulation/provider.ts';
import { structureFaults } from '../../simulation/structure.ts';
import { hexId } from '../../support/ids.ts';
import type { Process, World } from './world.ts';

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

/** The state of each container of the table but its root. */
export function statesOf({ state }: World): Header['state'][] {
  return storedIds(state, 't').map((id) => storedNode(state, 't', id)!.header.state);
}

/** The process, which merges, reaches the provider no more once a leaf is retired. */
export function diesAtRetirement(world: World, process: Process): void {
  process.rule(() => (statesOf(world).includes('retired') ? { fail: 'unavailable' } : undefined));
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

/** Faults in the structure of a table, in words. */
export function faultsOf(state: MemoryState, table: string): string[] {
  return structureFaults(new Provider(state), table, true);
}

/** Keys of all stored records, leaf by leaf. */
export function storedKeys(state: MemoryState, table: string): string[] {
  return leavesOf(state, table).flatMap((leaf) => recordsOf(leaf, table).map((record) => decodeKey(record.key)));
}
