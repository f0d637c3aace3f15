// The envelope of a stored page (FORMAT.md, "Page"). It holds the page's address, so that a page
// that was returned for another one is noticed.
import { crc32 } from 'node:zlib';
import type { Compressed } from '../contract/runtime.ts';
import { asBuffer, ByteReader, ByteWriter, checkCrc, CRC_BYTES, FORMAT_VERSION, type Id64 } from './bytes.ts';
import { decompress } from './compression.ts';
import { type Page, parsePage } from './page-body.ts';

/** Bounds the memory that damaged bytes can claim. The largest record is far smaller. */
const PAGE_RAW_BYTES_MAX = 2 * 1024 * 1024;

/** The most bytes that an envelope adds to the body. */
const ENVELOPE_BYTES_MAX = 36;

/** The place of a page, and by its number the time for which its bytes are valid. */
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

/** Gives a page another address without expanding it. Throws a RangeError if its CRC differs. */
export function moveSealed(sealed: Uint8Array, crc: number, address: PageAddress): SealedPage {
  const { body, tag, rawBytes, crc: found } = openEnvelope(sealed);
  if (found !== crc) throw new RangeError('the page is not the one that its header names');
  return toEnvelopeCompressed({ tag, bytes: body }, rawBytes, address);
}

/** Puts a compressed body into its envelope. */
export function toEnvelopeCompressed(
  { tag, bytes: body }: Compressed,
  rawBytes: number,
  address: PageAddress,
): SealedPage {
  const writer = new ByteWriter(ENVELOPE_BYTES_MAX + body.length);
  writer.u8(FORMAT_VERSION);
  writer.u8(tag);
  writer.id(address.incarnation);
  writer.id(address.container);
  writer.u16(address.slot);
  writer.varint(address.number);
  writer.u32(rawBytes);
  writer.raw(body);
  const crc = crc32(writer.view());
  writer.u32(crc);
  return { bytes: writer.view(), crc, compression: tag };
}

interface Envelope extends PageAddress {
  readonly tag: number;
  readonly rawBytes: number;
  readonly body: Uint8Array;
  readonly crc: number;
}

/** Opens an envelope, whatever its address. Throws a RangeError for damage or a newer format. */
export function openEnvelope(sealed: Uint8Array): Envelope {
  const bytes = asBuffer(sealed);
  const reader = new ByteReader(bytes);
  const version = reader.u8();
  if (version !== FORMAT_VERSION) throw new RangeError(`page format ${version} is not known to this release`);
  const crc = checkCrc(bytes, 'page');
  return {
    tag: reader.u8(),
    incarnation: reader.id(),
    container: reader.id(),
    slot: reader.u16(),
    number: reader.varint(),
    rawBytes: reader.u32(),
    crc,
    body: reader.raw(reader.left - CRC_BYTES),
  };
}

/** Expands a stored page. Throws a RangeError for damage, or another address or CRC-32. */
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
