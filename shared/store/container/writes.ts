// Makes the writes of a container: an insert, a replace, or a patch that empties dropped pages.
import type { EntityId, Part, PartName, Write } from '../contract/driver.ts';
import { EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { encodeHeader, type Header } from '../format/header.ts';
import { COMMIT_PART, HEADER_PART, pagePart } from '../format/entity-ids.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Evaluation } from './evaluate.ts';
import type { Snapshot } from './snapshot.ts';

function part(name: PartName, bytes: Uint8Array, chunksBefore: number): Part {
  return { name, bytes, chunksBefore };
}

function ownParts(encodedHeader: Uint8Array, attempt: Id64, chunksBefore: number): Part[] {
  return [part(HEADER_PART, encodedHeader, chunksBefore), part(COMMIT_PART, Buffer.from(attempt, 'hex'), chunksBefore)];
}

function sealedBytesOf(ref: PageRef): Uint8Array {
  if (ref.content.sealed === undefined) throw new Error(`page ${ref.slot} is not in memory in its stored form`);
  return ref.content.sealed;
}

/** A patch with header, commit id and the pages `written`. It empties the slots `dropped`. */
export function patchOf(
  snapshot: Snapshot,
  encodedHeader: Uint8Array,
  { written, dropped }: Pick<Evaluation, 'written' | 'dropped'>,
  attempt: Id64,
): Write {
  const parts = [
    ...ownParts(encodedHeader, attempt, 1),
    ...written.map(({ ref, chunksBefore }) => part(pagePart(ref.slot), sealedBytesOf(ref), chunksBefore)),
    ...dropped.map((ref) => part(pagePart(ref.slot), EMPTY_BYTES, ref.chunksMost)),
  ];
  return { kind: 'patch', id: snapshot.id, version: snapshot.version, parts };
}

function wholeParts(header: Header, attempt: Id64): Part[] {
  const pages = header.pages.map((ref) => part(pagePart(ref.slot), sealedBytesOf(ref), 0));
  return [...ownParts(encodeHeader(header), attempt, 0), ...pages];
}

/** A replace with the whole node. The stored bytes of all pages must be in memory. */
export function replaceOf({ id, version }: Pick<Snapshot, 'id' | 'version'>, header: Header, attempt: Id64): Write {
  return { kind: 'replace', id, version, parts: wholeParts(header, attempt) };
}

/** An insert of the whole node. The stored bytes of all pages must be in memory. */
export function insertOf(id: EntityId, header: Header, attempt: Id64): Write {
  return { kind: 'insert', id, parts: wholeParts(header, attempt) };
}
