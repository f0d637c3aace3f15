// Compresses pages, and expands them to no more than their stated size.
import { constants, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Compressed, Compression } from '../contract/runtime.ts';

/** The tags of FORMAT.md. Nothing writes deflate. */
const COMPRESSION_TAGS = { none: 0, deflate: 1, zstd: 2 } as const;

const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** zlib's minimum for `chunkSize`, its output buffer. */
const CHUNK_BYTES_LEAST = 64;

/** zlib allocates a second buffer when the first is full, even if nothing follows. */
const SPARE_BYTES = 1;

/** Returns the bytes themselves where compression saves nothing. */
export function compress(raw: Uint8Array, compression: Compression): Compressed {
  if (compression === 'zstd') {
    // By default each call would allocate many times the input's size.
    const bytes = zstdCompressSync(raw, { ...ZSTD, chunkSize: Math.max(CHUNK_BYTES_LEAST, raw.length) });
    if (bytes.length < raw.length) return { tag: COMPRESSION_TAGS.zstd, bytes };
  }
  return { tag: COMPRESSION_TAGS.none, bytes: raw };
}

/** Expands to `rawBytes` bytes of own memory. Throws a RangeError for another size. */
export function decompress(bytes: Uint8Array, tag: number, rawBytes: number): Uint8Array {
  const raw = expand(bytes, tag, rawBytes);
  if (raw.length !== rawBytes) throw new RangeError(`expanded to ${raw.length} bytes instead of ${rawBytes}`);
  // A cached page must not keep alive its reply, nor Node.js's pool of small buffers.
  if (raw.buffer.byteLength <= rawBytes + SPARE_BYTES) return raw;
  const own = Buffer.allocUnsafeSlow(rawBytes);
  own.set(raw);
  return own;
}

function expand(bytes: Uint8Array, tag: number, rawBytes: number): Uint8Array {
  if (tag === COMPRESSION_TAGS.none) return bytes;
  // By default each call would allocate 64 KiB and more.
  const options = {
    maxOutputLength: Math.max(1, rawBytes),
    chunkSize: Math.max(CHUNK_BYTES_LEAST, rawBytes + SPARE_BYTES),
  };
  if (tag === COMPRESSION_TAGS.zstd) return zstdDecompressSync(bytes, options);
  if (tag === COMPRESSION_TAGS.deflate) return inflateRawSync(bytes, options);
  throw new RangeError(`unknown compression ${tag}`);
}
