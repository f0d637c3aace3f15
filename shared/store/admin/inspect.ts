// Shows one container as it is stored, damaged or not. Writes nothing.
import type { ContainerInfo, HeaderInfo, InspectOptions, PageInfo } from '../contract/admin.ts';
import type { Entity, EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { COMPRESSIONS } from '../format/envelope.ts';
import { commitIdAt, type Header } from '../format/header.ts';
import { nodeId, nodesPrefix, rootId } from '../format/entity-ids.ts';
import { isExpired, isTombstone, recordsOf } from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { encodeKey, positionsOf } from '../format/position.ts';
import { layersOf } from '../container/layers.ts';
import { pageOf, type Snapshot, snapshotOf } from '../container/snapshot.ts';
import { STRIPPED_KEPT_MS } from './orphans.ts';
import { readStored } from './remains.ts';
import { shown } from './verify-tally.ts';

/** Throws `not_found` for a missing table, `invalid` for a missing or foreign container. */
export async function inspectContainer(engine: Engine, options: InspectOptions): Promise<ContainerInfo> {
  const { table } = engine;
  const id = await idOf(engine, options);
  const seen = engine.clock.now();
  const entity = await readStored(engine, id);
  if (entity === undefined && id === rootId(table)) throw tableNotFound(table);
  if (entity === undefined) throw new StoreError('invalid', 'there is no such container', { table, container: id });
  try {
    const snapshot = snapshotOf(entity, table, seen, undefined);
    const pages = pagesOf(engine, snapshot);
    return { ...storedOf(entity), header: headerInfo(table, snapshot.header), damage: undefined, pages };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...storedOf(entity), header: undefined, damage: error.message, pages: [] };
  }
}

/** The end of an id: incarnation and container. Drivers are asked for nothing else. */
const NODE = /^[\da-f]{16}![\da-f]{16}$/;

async function idOf(engine: Engine, { container, key }: InspectOptions): Promise<EntityId> {
  const { table } = engine;
  if (container !== undefined && key !== undefined)
    throw new StoreError('invalid', 'inspect takes a container or a key, not both', { table });
  if (key !== undefined) return leafOf(engine, key);
  if (container === undefined || container === rootId(table)) return rootId(table);
  const prefix = nodesPrefix(table);
  if (container.startsWith(prefix) && NODE.test(container.slice(prefix.length))) return container as EntityId;
  throw new StoreError('invalid', `${JSON.stringify(container)} is no container of the table`, { table });
}

async function leafOf(engine: Engine, key: string): Promise<EntityId> {
  const { table } = engine;
  const root = await engine.tree.root(true);
  const { incarnation, order, level } = root.header;
  if (level === 0) return root.id;
  const position = positionsOf(order, 0)(encodeKey(key, table));
  const found = await engine.tree.leafFromTheLeft(incarnation, position);
  if (found === undefined) throw tableNotFound(table);
  return (found.retired ?? found.live).id;
}

function storedOf({ id, version, parts }: Entity): Pick<ContainerInfo, 'container' | 'version' | 'parts'> {
  const sizes = [...parts].map(([name, bytes]) => [name, bytes.length] as const);
  return { container: id, version, parts: Object.fromEntries(sizes) };
}

function headerInfo(table: string, header: Header): HeaderInfo {
  const { order, state, level, incarnation, low, high, right, nextNumber, commitCount, createdAtMs, origin } = header;
  const same = { order, state, level, incarnation, nextNumber, commitCount, createdAtMs, origin };
  return {
    ...same,
    ...shown({ from: low, to: high }, order === 'hash'),
    right: right && nodeId(table, incarnation, right),
    lastCommit: commitIdAt(header, commitCount),
    keptUntilMs: state === 'merged' ? createdAtMs + STRIPPED_KEPT_MS : undefined,
    deadSlots: header.deadSlots.length,
  };
}

function pagesOf(engine: Engine, snapshot: Snapshot): PageInfo[] {
  const { header } = snapshot;
  const isHashed = header.order === 'hash';
  return layersOf(header).flatMap((rows, layer) =>
    rows.map((ref, row) => {
      const { slot, number, records, sealedBytes: bytes } = ref;
      const stretch = shown({ from: ref.low, to: rows[row + 1]?.low ?? header.high }, isHashed);
      const compression = COMPRESSIONS[ref.compression] ?? 'unknown';
      return { slot, layer, ...stretch, number, bytes, compression, records, ...deadOf(engine, snapshot, ref) };
    }),
  );
}

type Dead = Pick<PageInfo, 'expired' | 'tombstones' | 'damage'>;

function deadOf(engine: Engine, snapshot: Snapshot, ref: PageRef): Dead {
  try {
    if (!ref.content.isKnown) return unreadable('it is not there');
    const records = recordsOf(pageOf(snapshot, ref, engine.table));
    const nowMs = engine.runtime.wallMs();
    const expired = records.filter((record) => isExpired(record, nowMs)).length;
    return { expired, tombstones: records.filter(isTombstone).length, damage: undefined };
  } catch (error) {
    if (error instanceof StoreError) return unreadable(error.message);
    throw error;
  }
}

function unreadable(damage: string): Dead {
  return { expired: undefined, tombstones: undefined, damage };
}
