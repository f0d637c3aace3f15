// A buffer that is used again and again, for bytes that are copied on at once. New buffers outside
// V8's heap make it collect garbage: that took half of the time of a put of 500 KB.

/** A page of the largest record, merged with the record that replaces it. More is rare. */
const KEPT_BYTES_MAX = 1024 * 1024 + 16 * 1024;
/** The buffer grows in steps of this, so that slowly growing pages do not each enlarge it. */
const STEP_BYTES = 64 * 1024;

/** Each `take` overwrites what was written after the one before. */
export class ScratchMemory {
  #memory = Buffer.alloc(0);

  /** A buffer of at least so many bytes, with any content. A very large one is not kept. */
  take(bytes: number): Buffer {
    if (bytes > KEPT_BYTES_MAX) return Buffer.allocUnsafeSlow(bytes);
    if (this.#memory.length < bytes) this.#memory = Buffer.allocUnsafeSlow(Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
    return this.#memory;
  }

  /** Whether the bytes lie in the buffer, so that the next `take` overwrites them. */
  holds(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory.buffer;
  }
}
