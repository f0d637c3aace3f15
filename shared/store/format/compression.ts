// Compresses pages, and expands them to exactly the size that their envelope states.
import { inflateRawSync } from 'node:zlib';
import type { Compressed, Compression } from '../contract/runtime.ts';
import { zstdCompressed, zstdExpanded } from './zstd.ts';

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
