// A page as it is stored: compressed, in an envelope (FORMAT.md, "Page"). The envelope holds the
// page's address, so that a page that was returned for another one is noticed.
import {
  constants,
  crc32,
  createZstdCompress,
  createZstdDecompress,
  inflateRawSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import type { Compressed, Compression } from '../contract/runtime.ts';
import {
  asBuffer,
  ByteReader,
  ByteWriter,
  checkCrc,
  CRC_BYTES,
  FORMAT_VERSION,
  type Id64,
  ScratchMemory,
} from './bytes.ts';
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

/** Indexed by the tags of FORMAT.md. Deflate is only read. */
export const COMPRESSIONS = ['none', 'deflate', 'zstd'] as const;
const [NONE, DEFLATE, ZSTD] = [0, 1, 2];

/** Returns `raw` itself if compression does not shrink it, else bytes valid until the next call. */
export function compress(raw: Uint8Array, compression: Compression): Compressed {
  if (compression === 'zstd') {
    const bytes = zstdCompressed(raw);
    if (bytes.length < raw.length) return { tag: ZSTD, bytes };
  }
  return { tag: NONE, bytes: raw };
}

/** Expands to `rawBytes` bytes in memory of their own. Throws a RangeError for any other size. */
export function decompress(bytes: Uint8Array, tag: number, rawBytes: number): Uint8Array {
  const raw = expand(bytes, tag, rawBytes);
  if (raw.length !== rawBytes) throw new RangeError(`expanded to ${raw.length} bytes instead of ${rawBytes}`);
  // Cached pages must not keep a whole reply in memory, nor Node.js's pool of small buffers.
  const own = Buffer.allocUnsafeSlow(rawBytes);
  own.set(raw);
  return own;
}

function expand(bytes: Uint8Array, tag: number, rawBytes: number): Uint8Array {
  if (tag === NONE) return bytes;
  if (tag === ZSTD) return zstdExpanded(bytes, rawBytes);
  if (tag === DEFLATE) return inflateRawSync(bytes, { maxOutputLength: Math.max(1, rawBytes) });
  throw new RangeError(`unknown compression ${tag}`);
}

const LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** If this byte of the output stays free, the frame had no more content. */
const SPARE_BYTES = 1;

type Piece = [memory: Uint8Array, at: number, bytes: number];

/** The inside of a node:zlib stream, which npm's minizlib uses, too. */
interface Stream {
  readonly _handle?: { readonly writeSync?: (flush: number, ...inputAndOutput: [...Piece, ...Piece]) => void } | null;
  /** How many bytes of output, then of input, the last write left over. */
  readonly _writeState?: Uint32Array;
  on(event: 'error', listener: () => void): unknown;
  destroy(): unknown;
}

/**
 * A native context of zstd for all pages. Node.js makes a context per call, which takes longer than
 * a page does. What it makes of a frame does not depend on earlier frames.
 */
class Context {
  readonly #open: () => Stream;
  #stream: Stream | undefined;

  constructor(open: () => unknown) {
    this.#open = open as () => Stream;
  }

  /** The length of a whole frame's output; undefined if it failed, was cut, or Node.js changed. */
  run(input: Uint8Array, output: Uint8Array): number | undefined {
    const { _handle: handle, _writeState: left } = (this.#stream ??= this.#opened());
    if (typeof handle?.writeSync !== 'function' || left === undefined) return undefined;
    handle.writeSync(constants.ZSTD_e_end, input, 0, input.length, output, 0, output.length);
    const { _handle: kept } = this.#stream;
    if (kept === handle && left[0]! > 0 && left[1] === 0) return output.length - left[0]!;
    this.renew();
    return undefined;
  }

  /** Drops a context that may be in the middle of a frame, and would continue there. */
  renew(): void {
    this.#stream?.destroy();
    this.#stream = undefined;
  }

  #opened(): Stream {
    const stream = this.#open();
    // A failure is known before its event comes, which would end the process without a listener.
    stream.on('error', () => {});
    return stream;
  }
}

const compression = new Context(() => createZstdCompress(LEVEL_1));
const expansion = new Context(() => createZstdDecompress());
const memory = new ScratchMemory();

/** Compresses to one frame, valid until the next call. */
export function zstdCompressed(raw: Uint8Array): Uint8Array {
  // The bound is that of zstd, ZSTD_COMPRESSBOUND.
  const output = memory.take(raw.length + (raw.length >>> 8) + 64 + SPARE_BYTES);
  const bytes = compression.run(raw, output);
  if (bytes !== undefined) return output.subarray(0, bytes);
  return zstdCompressSync(raw, LEVEL_1);
}

/** Expands a frame; valid until the next call. Throws for damage, or for more than `rawBytes`. */
export function zstdExpanded(frame: Uint8Array, rawBytes: number): Uint8Array {
  const output = memory.take(rawBytes + SPARE_BYTES).subarray(0, rawBytes + SPARE_BYTES);
  const bytes = expansion.run(frame, output);
  if (bytes === rawBytes) return output.subarray(0, bytes);
  expansion.renew();
  return zstdDecompressSync(frame, { maxOutputLength: Math.max(1, rawBytes) });
}
