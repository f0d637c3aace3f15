// Between the contract's parts and Azure's properties. A part is one or more binary properties of at most 64 KiB: `p3`, `p3_1`, ...
// The first begins with the part's length in four bytes, so surplus chunks, which a merge can empty but not delete, are ignored.
// The partition is a fixed function of the id: an entity is found, and spread, without knowing anything else.
import {
  chunksOf,
  type DriverLimits,
  type EntityId,
  type Part,
  type PartName,
  type ReadRequest,
  type Write,
} from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { isPartName } from '../common/contract-checks.ts';
import { hashOfId } from '../common/id-hash.ts';
import type { Properties, RowKeys } from './rows.ts';

/** Enough that the account, not a partition, is the bottleneck; few, because a listing asks each. A constant of stored data. */
export const PARTITION_COUNT = 16;
const LENGTH_BYTES = 4;
/** A URL of more names than this is refused by some proxies; then the whole entity is asked for. */
const SELECT_NAMES_MAX = 250;

/**
 * The service's limits, less a margin: an entity has 1 MiB by the service's own formula and 252 properties of 64 KiB; Azurite checks
 * base64 instead, which ends at about 786,000 bytes. A transaction has 100 operations and 4 MiB of base64 with headers.
 */
export const LIMITS: DriverLimits = {
  provider: 'azure-tables',
  entityBytesMax: 720_000,
  // 4 + 2 for each character of both keys, and the timestamp.
  entityOverheadBytes: 1_024,
  // 8 + 2 for each character of the name + 4, and the length in a part's first chunk.
  chunkOverheadBytes: 32,
  chunkBytes: 65_536 - LENGTH_BYTES,
  chunksMax: 250,
  idBytesMax: 400,
  // There is no batched get.
  readsMax: 1,
  writesMax: 100,
  // Transactions go through the SDK's serializers (see rows.ts): what is large travels faster by itself, for a request more.
  writeBytesMax: 128 * 1024,
  listMax: 1_000,
  lane: partitionOf,
};

export function partitionOf(id: EntityId): string {
  return partitionAt(hashOfId(id) % PARTITION_COUNT);
}

export function partitionAt(place: number): string {
  return place.toString(16).padStart(2, '0');
}

export function keysOf(id: EntityId): RowKeys {
  return { partition: partitionOf(id), row: id };
}

/** The properties that this write sets. */
export function propertiesOf({ kind, parts }: Pick<Write, 'kind' | 'parts'>): Properties {
  const properties: Record<string, string> = {};
  for (const part of parts) {
    for (const [place, chunk] of chunksIn(part).entries()) properties[propertyOf(part.name, place)] = base64Of(chunk);
    if (kind !== 'patch') continue;
    const used = chunksOf(part.bytes.byteLength, LIMITS);
    for (let place = used; place < part.chunksBefore; place += 1) properties[propertyOf(part.name, place)] = '';
  }
  return properties;
}

/** The properties that hold these parts, whatever their size; undefined: all. Only parts with a number may be of several chunks. */
export function selectOf(parts: ReadRequest['parts']): string[] | undefined {
  if (parts === 'all') return undefined;
  const chunksMax = Math.ceil(LIMITS.entityBytesMax / LIMITS.chunkBytes);
  const names = parts.flatMap((part) =>
    Array.from({ length: part.length > 1 ? chunksMax : 1 }, (_, place) => propertyOf(part, place)),
  );
  return names.length > SELECT_NAMES_MAX ? undefined : ['RowKey', ...names];
}

/** The parts among an entity's properties that were asked for. Throws `corrupt` if chunks are missing. */
export function partsOf(
  id: EntityId,
  stored: Readonly<Record<string, unknown>>,
  wanted: ReadRequest['parts'],
): Map<PartName, Uint8Array> {
  const parts = new Map<PartName, Uint8Array>();
  for (const [name, first] of Object.entries(stored)) {
    const asked = isPartName(name) && (wanted === 'all' || wanted.includes(name));
    if (!asked || typeof first !== 'string' || first === '') continue;
    parts.set(name, joined(id, name, Buffer.from(first, 'base64'), stored));
  }
  return parts;
}

/** The least string behind all ids that begin with `prefix`, for ids never hold a character behind `~`. */
export function endOfPrefix(prefix: string): string | undefined {
  const stem = prefix.replace(/~+$/, '');
  if (stem === '') return undefined;
  return stem.slice(0, -1) + String.fromCharCode(stem.charCodeAt(stem.length - 1) + 1);
}

function joined(id: EntityId, name: PartName, first: Buffer, stored: Readonly<Record<string, unknown>>): Uint8Array {
  const damaged = () =>
    new StoreError('corrupt', `part ${name} is damaged, restore it from a backup`, { container: id });
  if (first.byteLength <= LENGTH_BYTES) throw damaged();
  const length = first.readUInt32BE();
  const chunks = [first.subarray(LENGTH_BYTES)];
  for (let place = 1; place < chunksOf(length, LIMITS); place += 1) {
    const chunk = stored[propertyOf(name, place)];
    if (typeof chunk !== 'string') throw damaged();
    chunks.push(Buffer.from(chunk, 'base64'));
  }
  const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  if (bytes.byteLength !== length) throw damaged();
  return bytes;
}

function chunksIn({ bytes }: Part): Uint8Array[] {
  const count = chunksOf(bytes.byteLength, LIMITS);
  return Array.from({ length: count }, (_, place) => {
    const chunk = bytes.subarray(place * LIMITS.chunkBytes, (place + 1) * LIMITS.chunkBytes);
    if (place > 0) return chunk;
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, bytes.byteLength);
    return Buffer.concat([length, chunk]);
  });
}

function propertyOf(part: PartName, place: number): string {
  return place === 0 ? part : `${part}_${place}`;
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
