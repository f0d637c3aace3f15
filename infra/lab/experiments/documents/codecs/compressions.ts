// Compressions of node:zlib at the levels that suit data which is written often.
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateRawSync,
  inflateRawSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';

export interface CompressionMethod {
  readonly id: string;
  readonly name: string;
  compress(bytes: Uint8Array): Uint8Array;
  expand(bytes: Uint8Array): Uint8Array;
}

export const PLAIN: CompressionMethod = {
  id: 'plain',
  name: 'plain',
  compress: (bytes) => bytes,
  expand: (bytes) => bytes,
};

/** deflate and zstd at the store's level 1; brotli at 4, beyond which it slows down by multiples. */
export const COMPRESSIONS: readonly CompressionMethod[] = [
  PLAIN,
  {
    id: 'deflate',
    name: 'deflate 1',
    compress: (bytes) => deflateRawSync(bytes, { level: 1 }),
    expand: (bytes) => inflateRawSync(bytes),
  },
  {
    id: 'brotli',
    name: 'brotli 4',
    compress: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
    expand: (bytes) => brotliDecompressSync(bytes),
  },
  {
    id: 'zstd',
    name: 'zstd 1',
    compress: (bytes) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
    expand: (bytes) => zstdDecompressSync(bytes),
  },
];
