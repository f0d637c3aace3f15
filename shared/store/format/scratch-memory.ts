// Memory for bytes that are copied or sent on at once. Fresh memory outside V8's heap brings on
// full collections: with it they took half of the time of a put of 500 KB.

/** A page of the largest record, merged with the record that it replaces. More is rare. */
const KEPT_BYTES_MAX = 1024 * 1024 + 16 * 1024;
/** It grows by this, so that pages which grow slowly do not each ask for more. */
const STEP_BYTES = 64 * 1024;

/** Whoever takes it overwrites what was taken before. */
export class PassingMemory {
  #memory = Buffer.alloc(0);

  /** So many bytes or more, with any content. Larger memory than is kept is the caller's own. */
  take(bytes: number): Buffer {
    if (bytes > KEPT_BYTES_MAX) return Buffer.allocUnsafeSlow(bytes);
    if (this.#memory.length < bytes) this.#memory = Buffer.allocUnsafeSlow(Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
    return this.#memory;
  }

  /** Whether the bytes lie in it: they are lost when it is taken again. */
  holds(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory.buffer;
  }
}
