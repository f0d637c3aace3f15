// zstd with one context for all pages: Node.js makes one a call, which takes longer than a page.
import { constants, createZstdCompress, createZstdDecompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { PassingMemory } from './scratch-memory.ts';

const LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Shows that nothing more would have come. */
const SPARE_BYTES = 1;

/** A part of memory. */
type Piece = [memory: Uint8Array, at: number, bytes: number];

/** A stream of node:zlib as it is inside. npm's minizlib reaches there too. */
interface Stream {
  readonly _handle?: { readonly writeSync?: (flush: number, ...inputAndOutput: [...Piece, ...Piece]) => void } | null;
  /** Bytes of output, then of input, that the last write left. */
  readonly _writeState?: Uint32Array;
  on(event: 'error', listener: () => void): unknown;
  destroy(): unknown;
}

/** A native context. Frames do not depend on those before. */
class Context {
  readonly #open: () => Stream;
  #stream: Stream | undefined;

  constructor(open: () => unknown) {
    this.#open = open as () => Stream;
  }

  /** The bytes of a whole frame's output; undefined if it failed, was cut, or Node.js changed. */
  run(input: Uint8Array, output: Uint8Array): number | undefined {
    const { _handle: handle, _writeState: left } = (this.#stream ??= this.#opened());
    if (typeof handle?.writeSync !== 'function' || left === undefined) return undefined;
    handle.writeSync(constants.ZSTD_e_end, input, 0, input.length, output, 0, output.length);
    const { _handle: kept } = this.#stream;
    if (kept === handle && left[0]! > 0 && left[1] === 0) return output.length - left[0]!;
    this.renew();
    return undefined;
  }

  /** It may stand within a frame: the next one would go on there. */
  renew(): void {
    this.#stream?.destroy();
    this.#stream = undefined;
  }

  #opened(): Stream {
    const stream = this.#open();
    // A failure is told by an event, and known before.
    stream.on('error', () => {});
    return stream;
  }
}

const compression = new Context(() => createZstdCompress(LEVEL_1));
const expansion = new Context(() => createZstdDecompress());
const memory = new PassingMemory();

/** One frame, valid until the next call. */
export function zstdCompressed(raw: Uint8Array): Uint8Array {
  // zstd's own bound, ZSTD_COMPRESSBOUND.
  const output = memory.take(raw.length + (raw.length >>> 8) + 64 + SPARE_BYTES);
  const bytes = compression.run(raw, output);
  if (bytes !== undefined) return output.subarray(0, bytes);
  return zstdCompressSync(raw, LEVEL_1);
}

/** A frame's content, valid until the next call. Throws for damage and for more than `rawBytes`. */
export function zstdExpanded(frame: Uint8Array, rawBytes: number): Uint8Array {
  const output = memory.take(rawBytes + SPARE_BYTES).subarray(0, rawBytes + SPARE_BYTES);
  const bytes = expansion.run(frame, output);
  if (bytes === rawBytes) return output.subarray(0, bytes);
  expansion.renew();
  return zstdDecompressSync(frame, { maxOutputLength: Math.max(1, rawBytes) });
}
