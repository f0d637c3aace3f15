// The envelope of a stored page. FORMAT.md, "Page":
//   version u8 | compression u8 | incarnation 8 | container 8 | slot u16 | number varint | raw bytes u32 | body | crc32 u32
// It holds the page's address, so that a page which comes from a wrong place is noticed.
import { crc32 } from 'node:zlib';
import type { Compressed } from '../contract/runtime.ts';
import { asBuffer, ByteReader, ByteWriter, FORMAT_VERSION, type Id64, varintBytes } from './bytes.ts';
import { decompress } from './compression.ts';
import { type Page, parsePage, ROOM_BEFORE_BYTES, ROOM_BEHIND_BYTES } from './page.ts';

/** No page expands to more: a record's limit is far below. It bounds the memory that damaged bytes can make a reader take. */
const PAGE_RAW_BYTES_MAX = 2 * 1024 * 1024;

/** What stands before a body, without the number. */
const HEAD_BYTES = 2 + 8 + 8 + 2 + 4;

/** The one place and time that a page's bytes are good for. */
export interface PageAddress {
  readonly incarnation: Id64;
  readonly container: Id64;
  readonly slot: number;
  readonly number: number;
}

/** A page in its envelope, as stored. */
export interface SealedPage {
  readonly bytes: Uint8Array;
  readonly crc: number;
  readonly compression: number;
}

/** The same compressed body in an envelope with another address, without expanding it. `crc` is its row's: throws where the bytes have another. */
export function moveSealed(sealed: Uint8Array, crc: number, address: PageAddress): SealedPage {
  const { body, tag, rawBytes, crc: found } = openEnvelope(sealed);
  if (found !== crc) throw new RangeError('the page is not the one that its header names');
  return toEnvelopeCompressed({ tag, bytes: body }, rawBytes, address);
}

/** A body of `rawBytes` bytes that is compressed already, in its envelope: in `room`, if that is the room that the very body lies in. */
export function toEnvelopeCompressed(
  { tag, bytes: body }: Compressed,
  rawBytes: number,
  address: PageAddress,
  room = roomWith(body),
): SealedPage {
  const begin = ROOM_BEFORE_BYTES - HEAD_BYTES - varintBytes(address.number);
  const end = ROOM_BEFORE_BYTES + body.length;
  const writer = new ByteWriter(room.subarray(begin));
  writer.u8(FORMAT_VERSION);
  writer.u8(tag);
  writer.id(address.incarnation);
  writer.id(address.container);
  writer.u16(address.slot);
  writer.varint(address.number);
  writer.u32(rawBytes);
  const crc = crc32(room.subarray(begin, end));
  return { bytes: room.subarray(begin, room.writeUInt32BE(crc, end)), crc, compression: tag };
}

function roomWith(body: Uint8Array): Buffer {
  const room = Buffer.allocUnsafe(ROOM_BEFORE_BYTES + body.length + ROOM_BEHIND_BYTES);
  room.set(body, ROOM_BEFORE_BYTES);
  return room;
}

interface Envelope extends PageAddress {
  readonly tag: number;
  readonly rawBytes: number;
  readonly body: Uint8Array;
  readonly crc: number;
}

/** Reads an envelope and checks its CRC-32 and format version; throws a RangeError that says what is wrong. */
function openEnvelope(sealed: Uint8Array): Envelope {
  const bytes = asBuffer(sealed);
  const reader = new ByteReader(bytes);
  const version = reader.u8();
  if (version !== FORMAT_VERSION) throw new RangeError(`page format ${version} is not known to this release`);
  if (bytes.length < 5) throw new RangeError('page is cut short');
  const crc = bytes.readUInt32BE(bytes.length - 4);
  if (crc32(bytes.subarray(0, -4)) !== crc) throw new RangeError('page checksum does not match');
  const tag = reader.u8();
  const incarnation = reader.id();
  const container = reader.id();
  const slot = reader.u16();
  const number = reader.varint();
  const rawBytes = reader.u32();
  return { tag, incarnation, container, slot, number, rawBytes, crc, body: reader.raw(reader.left - 4) };
}

/** Opens a stored page, which must have the address and the CRC-32 of its row in the page table. Throws a RangeError that says what is wrong. */
export function openPage(sealed: Uint8Array, address: PageAddress, crc: number): Page {
  const envelope = openEnvelope(sealed);
  const misplaced =
    envelope.incarnation !== address.incarnation ||
    envelope.container !== address.container ||
    envelope.slot !== address.slot ||
    envelope.number !== address.number ||
    envelope.crc !== crc;
  if (misplaced) throw new RangeError('page belongs to another place or time');
  if (envelope.rawBytes > PAGE_RAW_BYTES_MAX) throw new RangeError('page claims more bytes than any page has');
  return parsePage(decompress(envelope.body, envelope.tag, envelope.rawBytes));
}
