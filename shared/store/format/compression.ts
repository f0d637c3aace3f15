// Compresses pages, and expands them to no more than their stated size.
import { inflateRawSync } from 'node:zlib';
import type { Compressed, Compression } from '../contract/runtime.ts';
import { zstdCompressed, zstdExpanded } from './zstd.ts';

/** The tags of FORMAT.md. Nothing writes deflate. */
const COMPRESSION_TAGS = { none: 0, deflate: 1, zstd: 2 } as const;

/** Returns the bytes themselves where compression saves nothing; else valid until the next call. */
export function compress(raw: Uint8Array, compression: Compression): Compressed {
  if (compression === 'zstd') {
    const bytes = zstdCompressed(raw);
    if (bytes.length < raw.length) return { tag: COMPRESSION_TAGS.zstd, bytes };
  }
  return { tag: COMPRESSION_TAGS.none, bytes: raw };
}

/** Expands to `rawBytes` bytes of own memory. Throws a RangeError for another size. */
export function decompress(bytes: Uint8Array, tag: number, rawBytes: number): Uint8Array {
  const raw = expand(bytes, tag, rawBytes);
  if (raw.length !== rawBytes) throw new RangeError(`expanded to ${raw.length} bytes instead of ${rawBytes}`);
  // A cached page must not keep alive its reply, nor Node.js's pool of small buffers.
  const own = Buffer.allocUnsafeSlow(rawBytes);
  own.set(raw);
  return own;
}

function expand(bytes: Uint8Array, tag: number, rawBytes: number): Uint8Array {
  if (tag === COMPRESSION_TAGS.none) return bytes;
  if (tag === COMPRESSION_TAGS.zstd) return zstdExpanded(bytes, rawBytes);
  if (tag === COMPRESSION_TAGS.deflate) return inflateRawSync(bytes, { maxOutputLength: Math.max(1, rawBytes) });
  throw new RangeError(`unknown compression ${tag}`);
}
