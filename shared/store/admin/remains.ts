// What a damaged container still tells of itself: its header, its format, its table.
import { type Remains, pagesFound, positionsLeft, readable } from '../container/salvage.ts';
import type { Entity, EntityId } from '../contract/driver.ts';
import type { Engine } from '../engine/engine.ts';
import { asBuffer, checkCrc, FORMAT_VERSION, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { openEnvelope } from '../format/envelope.ts';
import { decodeHeader, type Header, isHeader } from '../format/header.ts';
import { COMMIT_PART, containerOf, HEADER_PART, incarnationOf, nodeId, slotOfPart } from '../format/ids.ts';
import type { Position } from '../format/position.ts';
import { sendReads } from '../io/send.ts';

/** Reads a container as it is stored, past the cache. */
export async function readStored(engine: Engine, id: EntityId): Promise<Entity | undefined> {
  const [entity] = await sendReads(engine, [{ id, parts: 'all' }]);
  return entity;
}

/** The header, if it can be read and belongs to this container. */
export function ownHeader(table: string, entity: Entity | undefined): Header | undefined {
  const stored = entity?.parts.get(HEADER_PART);
  const header = stored && readable(() => decodeHeader(stored));
  return header && nodeId(table, header.incarnation, header.container) === entity?.id ? header : undefined;
}

export function remainsOf(
  table: string,
  entity: Entity | undefined,
  { incarnation, container }: Pick<Remains, 'incarnation' | 'container'>,
): Remains {
  return { parts: entity?.parts ?? new Map(), header: ownHeader(table, entity), incarnation, container };
}

/** The positions of the readable records of a leaf without a header, in order. */
export function positionsIn(table: string, entity: Entity, order: Header['order']): Position[] {
  const place = { incarnation: incarnationOf(entity.id), container: containerOf(entity.id)! };
  return positionsLeft(pagesFound(remainsOf(table, entity, place)), order);
}

/** The incarnations that the pages of a root name. */
export function incarnationsNamed(root: Entity | undefined): Id64[] {
  return [...(root?.parts ?? [])].flatMap(([name, bytes]) => {
    const address = slotOfPart(name) === undefined ? undefined : readable(() => openEnvelope(bytes));
    return address?.container === ROOT_CONTAINER ? [address.incarnation] : [];
  });
}

/** Whether a newer release wrote a part: its version is higher and its checksum is right. */
export function isNewer({ parts }: Entity): boolean {
  return [...parts].some(([name, bytes]) => {
    // A header in the place of a page, or the reverse, is damage.
    if (name === COMMIT_PART || isHeader(bytes) !== (name === HEADER_PART)) return false;
    const version = bytes[name === HEADER_PART ? 2 : 0] ?? 0;
    if (version <= FORMAT_VERSION) return false;
    return readable(() => checkCrc(asBuffer(bytes), 'part')) !== undefined;
  });
}
