// Compression of pages, on the spot; bounded when it expands.
import { constants, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Compressed, Compression, Compressor } from '../contract/runtime.ts';

/** The tags of FORMAT.md. */
const COMPRESSION_TAGS = { none: 0, deflate: 1, zstd: 2 } as const;

/** The function of node:zlib for each compression, and its options. */
export const METHODS = {
  zstd: { name: 'zstdCompressSync', options: { params: { [constants.ZSTD_c_compressionLevel]: 1 } } },
  deflate: { name: 'deflateRawSync', options: { level: 1 } },
} as const;

/** The least that zlib takes as the size of its output buffer. */
export const CHUNK_BYTES_LEAST = 64;

/** zlib goes on to another buffer when one is full, even if nothing follows. */
const SPARE_BYTES = 1;

/** Compresses in the calling thread. */
export const ON_THE_SPOT: Compressor = { compress: compressHere, close: () => Promise.resolve() };

/** Compresses, or returns the bytes as they are where that is not smaller. */
export function compress(raw: Uint8Array, compression: Compression): Compressed {
  if (compression === 'none') return { tag: COMPRESSION_TAGS.none, bytes: raw };
  // An output buffer as large as the input: by default each call would allocate many times that.
  const chunkSize = Math.max(CHUNK_BYTES_LEAST, raw.length);
  const bytes =
    compression === 'zstd'
      ? zstdCompressSync(raw, { ...METHODS.zstd.options, chunkSize })
      : deflateRawSync(raw, { ...METHODS.deflate.options, chunkSize });
  return smallerOf(raw, bytes, compression);
}

/** The compressed bytes if they are fewer than the raw ones, else the raw ones. */
export function smallerOf(raw: Uint8Array, bytes: Uint8Array, compression: Exclude<Compression, 'none'>): Compressed {
  if (bytes.length < raw.length) return { tag: COMPRESSION_TAGS[compression], bytes };
  return { tag: COMPRESSION_TAGS.none, bytes: raw };
}

/** Expands to exactly `rawBytes` bytes, in memory of their own; throws a RangeError otherwise, having allocated little more than that. */
export function decompress(bytes: Uint8Array, tag: number, rawBytes: number): Uint8Array {
  const raw = expand(bytes, tag, rawBytes);
  if (raw.length !== rawBytes) throw new RangeError(`expanded to ${raw.length} bytes instead of ${rawBytes}`);
  // A cached page must not keep alive the reply that it came in, nor the pool of which Node.js cuts small buffers.
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

/** The bodies as stored, in order. */
export function compressHere(bodies: readonly Uint8Array[], compression: Compression): readonly Compressed[] {
  return bodies.map((body) => compress(body, compression));
}
