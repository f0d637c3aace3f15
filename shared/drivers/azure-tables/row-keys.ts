// Maps the contract's parts to Azure's properties (FORMAT.md, "On Azure Table Storage"). A merge
// cannot delete the chunks of a longer part, but empties them; a part's length tells which count.
import {
  chunksOf,
  type DriverLimits,
  type EntityId,
  isPartName,
  type Part,
  type PartName,
  type ReadRequest,
  type Write,
} from '../../store/contract/driver.ts';
import { hashOfId } from '../common/driver-outcomes.ts';
import type { Properties, RowKeys } from './table-calls.ts';

/**
 * With 16 the busiest partition throttled before the account did. A listing asks each partition. It
 * is part of what is stored, so it never changes.
 */
export const PARTITION_COUNT = 64;
const LENGTH_BYTES = 4;
/** A part's length and its first bytes. */
const HEAD_BYTES = 6;
const head = Buffer.alloc(HEAD_BYTES);
/** Some proxies refuse a URL with more names. The whole entity is read instead. */
const SELECT_NAMES_MAX = 250;

/**
 * The limits of the service, less a margin: 1 MiB and 252 properties an entity, 100 operations a
 * transaction. Azurite counts base64, which ends at 786,000 bytes.
 */
export const LIMITS: DriverLimits = {
  provider: 'azure-tables',
  entityBytesMax: 720_000,
  // 4 + 2 for each character of both keys, and the timestamp.
  entityOverheadBytes: 1_024,
  commitsWait: false,
  // 8 + 2 for each character of the name + 4, and the length in a part's first chunk.
  chunkOverheadBytes: 32,
  chunkBytes: 65_536 - LENGTH_BYTES,
  chunksMax: 250,
  idBytesMax: 400,
  // There is no batched get.
  readsMax: 1,
  writesMax: 100,
  // Large writes are sent alone. Eight times as much in one request was not faster.
  writeBytesMax: 128 * 1024,
  listMax: 1_000,
  inFlightMax: 64,
  lane: partitionOf,
};

function partitionOf(id: EntityId): string {
  return partitionAt(hashOfId(id) % PARTITION_COUNT);
}

/** The name of a partition, by its number from 0. */
export function partitionAt(index: number): string {
  return index.toString(16).padStart(2, '0');
}

export function keysOf(id: EntityId): RowKeys {
  return { partition: partitionOf(id), row: id };
}

/** The chunks of a write's parts. In a patch, surplus chunks are emptied. */
export function propertiesOf({ kind, parts }: Pick<Write, 'kind' | 'parts'>): Properties {
  const properties: Record<string, readonly string[]> = {};
  for (const part of parts) {
    const used = chunksOf(part.bytes.byteLength, LIMITS);
    for (let index = 0; index < used; index += 1) properties[propertyOf(part.name, index)] = chunkOf(part, index);
    if (kind !== 'patch') continue;
    for (let index = used; index < part.chunksBefore; index += 1) properties[propertyOf(part.name, index)] = [];
  }
  return properties;
}

/** Undefined for all properties. Only parts with a number may have several chunks. */
export function selectOf(parts: ReadRequest['parts']): string[] | undefined {
  if (parts === 'all') return undefined;
  const chunksMax = Math.ceil(LIMITS.entityBytesMax / LIMITS.chunkBytes);
  const names = parts.flatMap((part) =>
    Array.from({ length: part.length > 1 ? chunksMax : 1 }, (_, index) => propertyOf(part, index)),
  );
  return names.length > SELECT_NAMES_MAX ? undefined : ['RowKey', ...names];
}

/** Of a damaged part it gives what is left, which the part's checksum will tell. */
export function partsOf(
  stored: Readonly<Record<string, unknown>>,
  wanted: ReadRequest['parts'],
): Map<PartName, Uint8Array> {
  const parts = new Map<PartName, Uint8Array>();
  for (const name of wanted === 'all' ? Object.keys(stored).filter(isPartName) : wanted) {
    const bytes = joined(name, stored);
    if (bytes.byteLength > 0) parts.set(name, bytes);
  }
  return parts;
}

/** The least string behind all ids with this prefix. No character of an id sorts behind `~`. */
export function endOfPrefix(prefix: string): string | undefined {
  const stem = prefix.replace(/~+$/, '');
  if (stem === '') return undefined;
  return stem.slice(0, -1) + String.fromCharCode(stem.charCodeAt(stem.length - 1) + 1);
}

function joined(name: PartName, stored: Readonly<Record<string, unknown>>): Uint8Array {
  const first = chunkIn(stored, name, 0);
  const begin = first.subarray(LENGTH_BYTES);
  const count = first.byteLength < LENGTH_BYTES ? 0 : chunksOf(first.readUInt32BE(), LIMITS);
  if (count <= 1) return begin;
  const others = Array.from({ length: Math.min(count, LIMITS.chunksMax) - 1 }, (_, at) =>
    chunkIn(stored, name, at + 1),
  );
  return Buffer.concat([begin, ...others]);
}

function chunkIn(stored: Readonly<Record<string, unknown>>, name: PartName, index: number): Buffer {
  const chunk = stored[propertyOf(name, index)];
  return Buffer.from(typeof chunk === 'string' ? chunk : '', 'base64');
}

/** The first begins with the part's length. */
function chunkOf({ bytes }: Part, index: number): readonly string[] {
  const begin = index * LIMITS.chunkBytes;
  const end = Math.min(bytes.byteLength, begin + LIMITS.chunkBytes);
  return index > 0 ? [base64Of(bytes, begin, end)] : [headOf(bytes), base64Of(bytes, HEAD_BYTES - LENGTH_BYTES, end)];
}

/** The length with two bytes, so that base64 encodes the rest by threes, without a copy. */
function headOf(bytes: Uint8Array): string {
  head.writeUInt32BE(bytes.byteLength);
  head.set(bytes.subarray(0, HEAD_BYTES - LENGTH_BYTES), LENGTH_BYTES);
  return head.toString('base64', 0, LENGTH_BYTES + bytes.byteLength);
}

function propertyOf(part: PartName, index: number): string {
  return index === 0 ? part : `${part}_${index}`;
}

function base64Of(bytes: Uint8Array, begin: number, end: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('base64', begin, end);
}
