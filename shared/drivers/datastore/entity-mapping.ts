// Maps the contract's parts to Datastore's properties (FORMAT.md): `h`, or `p17_hatx` with a tag of
// the entity's id. A lookup has one mask, which without tags would fetch page 17 of each entity.
import {
  type DriverLimits,
  type EntityId,
  isPartName,
  type Part,
  type PartName,
  type ReadRequest,
} from '../../store/contract/driver.ts';
import { hashOfId } from '../common/driver-outcomes.ts';
import type { Key, Properties, StoredEntity, Value } from './messages/messages.ts';

/**
 * The limits of the service, less a margin: 1,048,572 bytes per entity, 10 MiB per request, 1,000
 * keys per lookup. Older emulators take 500 mutations.
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

/** Where the entities are: in one kind of one namespace. */
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

/** The property of a part. It is part of what is stored, so it never changes. */
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

/** Gives only the wanted parts. Emulators, and equal tags of other ids, bring more. */
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

/** A request for no part asks for the key, because an empty mask would mean everything. */
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
