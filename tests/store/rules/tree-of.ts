// A table as it lies in the provider, read past every cache and without the engine's tree walk.
import type { MemoryState } from '../../../shared/drivers/memory.ts';
import { type Snapshot, snapshotOf } from '../../../shared/store/container/snapshot.ts';
import { successor, encodeHeader, type Header } from '../../../shared/store/format/header.ts';
import { COMMIT_PART, HEADER_PART, nodesPrefix, rootId } from '../../../shared/store/format/entity-ids.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import { Provider } from '../../simulation/provider.ts';
import {
  levelsOf as linkedLevelsOf,
  orphansOf as unlinkedIn,
  storedRecords,
  structureFaults,
} from '../../simulation/structure.ts';
import { entityId, hexId } from '../../support/ids.ts';
import type { World } from './world.ts';

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

/** Another process commits the root, and changes nothing but these fields of its header. */
export async function commitRoot(world: World, differing: Partial<Header> = {}): Promise<void> {
  const { id, version, header } = storedRoot(world.state, 't');
  const attempt = hexId(world.state.versionCount.toString(16).padStart(16, '0'));
  const parts = [
    { name: HEADER_PART, bytes: encodeHeader({ ...successor(header, attempt), ...differing }), chunksBefore: 1 },
    { name: COMMIT_PART, bytes: Buffer.from(attempt, 'hex'), chunksBefore: 1 },
  ];
  await world.driver().write([{ kind: 'patch', id, version, parts }], { timeoutMs: 1_000 });
}

/** All ids of containers of the table but its root, of any incarnation. */
export function storedIds(state: MemoryState, table: string): EntityId[] {
  return [...state.entities.keys()].filter((id) => id.startsWith(nodesPrefix(table)));
}

/** The state of each container of the table but its root. */
export function statesOf({ state }: World): Header['state'][] {
  return storedIds(state, 't').map((id) => storedNode(state, 't', id)!.header.state);
}

/** Every level, root first, each from its leftmost node along the right links. */
export function levelsOf(state: MemoryState, table: string): Level[] {
  const levels = linkedLevelsOf(new Provider(state), table);
  return levels.map(({ level, nodes }) => ({
    level,
    nodes: nodes.map(({ id }) => storedNode(state, table, entityId(id))!),
  }));
}

export function leavesOf(state: MemoryState, table: string): readonly Snapshot[] {
  return levelsOf(state, table).at(-1)!.nodes;
}

/** Ids of stored nodes that no link reaches. */
export function orphansOf(state: MemoryState, table: string): EntityId[] {
  return unlinkedIn(new Provider(state), table).map(entityId);
}

/** Faults in the structure of a table, in words. */
export function faultsOf(state: MemoryState, table: string): string[] {
  return structureFaults(new Provider(state), table, true);
}

/** Keys of all stored records, leaf by leaf. */
export function storedKeys(state: MemoryState, table: string): string[] {
  return storedRecords(new Provider(state), table).map(({ record }) => record.key.toString());
}
