// Compresses pages, and expands them to no more than their stated size.
import { inflateRawSync } from 'node:zlib';
import type { Compressed, Compression } from '../contract/runtime.ts';
import { zstdCompressed, zstdExpanded } from './zstd.ts';

/** By the tags of FORMAT.md. Nothing writes deflate. */
export const COMPRESSIONS = ['none', 'deflate', 'zstd'] as const;
const [NONE, DEFLATE, ZSTD] = [0, 1, 2];

/** Returns the bytes themselves where compression saves nothing; else valid until the next call. */
export function compress(raw: Uint8Array, compression: Compression): Compressed {
  if (compression === 'zstd') {
    const bytes = zstdCompressed(raw);
    if (bytes.length < raw.length) return { tag: ZSTD, bytes };
  }
  return { tag: NONE, bytes: raw };
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
  if (tag === NONE) return bytes;
  if (tag === ZSTD) return zstdExpanded(bytes, rawBytes);
  if (tag === DEFLATE) return inflateRawSync(bytes, { maxOutputLength: Math.max(1, rawBytes) });
  throw new RangeError(`unknown compression ${tag}`);
}
