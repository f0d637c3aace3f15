// Tells what a stored container still says of itself, pure: its header, its format, its table.
import { type Remains, pagesFound, positionsLeft } from '../container/salvage.ts';
import type { Entity } from '../contract/driver.ts';
import { asBuffer, checkCrc, FORMAT_VERSION, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { addressIn } from '../format/envelope.ts';
import { decodeHeader, type Header } from '../format/header.ts';
import { COMMIT_PART, containerOf, HEADER_PART, incarnationOf, nodeId } from '../format/ids.ts';
import type { Position } from '../format/position.ts';

/** The header, if it can be read and is this container's. */
export function ownHeader(table: string, entity: Entity | undefined): Header | undefined {
  const stored = entity?.parts.get(HEADER_PART);
  if (entity === undefined || stored === undefined) return undefined;
  try {
    const header = decodeHeader(stored);
    return nodeId(table, header.incarnation, header.container) === entity.id ? header : undefined;
  } catch {
    return undefined;
  }
}

export function remainsOf(
  table: string,
  entity: Entity | undefined,
  { incarnation, container }: Pick<Remains, 'incarnation' | 'container'>,
): Remains {
  return { parts: entity?.parts ?? new Map(), header: ownHeader(table, entity), incarnation, container };
}

/** The beginning of a container, by its header or first record; undefined if nothing tells. */
export function beginningOf(table: string, entity: Entity, order: Header['order']): Position | undefined {
  const [incarnation, container] = [incarnationOf(entity.id), containerOf(entity.id)];
  if (container === undefined) return undefined;
  const remains = remainsOf(table, entity, { incarnation, container });
  return remains.header?.low ?? positionsLeft(pagesFound(remains), order)[0];
}

/** The incarnations that the pages of a root name. */
export function incarnationsNamed(root: Entity | undefined): Id64[] {
  return [...(root?.parts ?? [])].flatMap(([name, bytes]) => {
    if (name === HEADER_PART || name === COMMIT_PART) return [];
    try {
      const { incarnation, container } = addressIn(bytes);
      return container === ROOT_CONTAINER ? [incarnation] : [];
    } catch {
      return [];
    }
  });
}

/** Whether a newer release wrote a part: its version is higher, and its checksum is right. */
export function isNewer({ parts }: Entity): boolean {
  return [...parts].some(([name, bytes]) => {
    if (name === COMMIT_PART) return false;
    const version = bytes[name === HEADER_PART ? 2 : 0];
    if (version === undefined || version <= FORMAT_VERSION) return false;
    try {
      checkCrc(asBuffer(bytes), 'part');
      return true;
    } catch {
      return false;
    }
  });
}
