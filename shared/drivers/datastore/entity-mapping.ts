// Maps the contract's parts to Datastore's properties (FORMAT.md): `h`, or `p17_hatx` with a tag of
// its id. A lookup has one mask: untagged it would fetch page 17 of each.
import {
  type DriverLimits,
  type EntityId,
  isPartName,
  type Part,
  type PartName,
  type ReadRequest,
} from '../../store/contract/driver.ts';
import { hashOfId } from '../common/id-hash.ts';
import type { Key, Properties, StoredEntity, Value } from './messages/messages.ts';

/**
 * The limits of the service, less a margin: 1,048,572 bytes an entity, 10 MiB a request, 1,000 keys
 * a lookup. Older emulators stop at 500 mutations.
 */
export const LIMITS: DriverLimits = {
  provider: 'datastore',
  entityBytesMax: 1_000_000,
  entityOverheadBytes: 2_048,
  commitsWait: true,
  chunkOverheadBytes: 32,
  // No smaller than entityBytesMax, so that a part is always one property.
  chunkBytes: 1_000_000,
  chunksMax: 1_000,
  idBytesMax: 400,
  readsMax: 1_000,
  writesMax: 500,
  writeBytesMax: 9_500_000,
  listMax: 1_000,
  inFlightMax: 64,
  lane: () => '',
};

/** The emulators refuse gRPC messages over 4 MiB. */
export const EMULATOR_LIMITS: DriverLimits = { ...LIMITS, writeBytesMax: 3_800_000 };

const TAG_CHARS = 4;
const NUMBERED = /^[a-z][0-9]+$/;

/** Which keys stand for ids: one kind in one namespace. */
export interface KeySpace {
  readonly projectId: string;
  readonly databaseId: string;
  readonly namespace: string;
  readonly kind: string;
}

export function keyOf({ projectId, databaseId, namespace, kind }: KeySpace, id: EntityId): Key {
  return { partitionId: { projectId, databaseId, namespaceId: namespace }, path: [{ kind, name: id }] };
}

/** The id in a key that the service gave. */
export function idOf(key: Key | undefined): EntityId {
  return (key?.path.at(-1)?.name ?? '') as EntityId;
}

/** The property of a part. Part of what is stored: it never changes. */
export function propertyOf(id: EntityId, part: PartName): string {
  return NUMBERED.test(part) ? `${part}_${tagOf(id)}` : part;
}

/** The entity that consists of these parts; empty ones have no property. */
export function entityOf(space: KeySpace, id: EntityId, parts: readonly Part[]): StoredEntity {
  const properties: Record<string, Value> = {};
  for (const { name, bytes } of parts) {
    if (bytes.byteLength > 0) properties[propertyOf(id, name)] = { blobValue: bytes, excludeFromIndexes: true };
  }
  return { key: keyOf(space, id), properties };
}

/** Only parts that were asked for: emulators and tags that coincide bring others. */
export function partsOf(id: EntityId, properties: Properties, wanted: ReadRequest['parts']): Map<PartName, Uint8Array> {
  const parts = new Map<PartName, Uint8Array>();
  for (const name of wanted === 'all' ? namesIn(properties) : wanted) {
    const bytes = properties[propertyOf(id, name)]?.blobValue;
    if (ArrayBuffer.isView(bytes) && bytes.byteLength > 0) parts.set(name, bytes);
  }
  return parts;
}

function namesIn(properties: Properties): PartName[] {
  return Object.keys(properties)
    .map((property) => property.split('_', 1)[0] ?? '')
    .filter(isPartName);
}

/** A mask of nothing would mean everything: a request for no part asks for the key. */
export function maskOf(requests: readonly ReadRequest[]): readonly string[] {
  const paths = new Set<string>();
  for (const { id, parts } of requests) {
    if (parts !== 'all') for (const part of parts) paths.add(propertyOf(id, part));
  }
  return paths.size === 0 ? ['__key__'] : [...paths];
}

function tagOf(id: EntityId): string {
  return hashOfId(id).toString(36).padStart(TAG_CHARS, '0').slice(-TAG_CHARS);
}
