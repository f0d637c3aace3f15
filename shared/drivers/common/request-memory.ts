// Reuses the memory of requests. New memory outside V8's heap caused full collections, which took
// as much time per put as its request.

/** Kept memory is a multiple of this size, into which most writes fit. */
const STEP_BYTES = 16 * 1024;
/** Larger memory is a multiple of this, as the nodes of a bulk load differ a little in size. */
const LARGE_STEP_BYTES = 256 * 1024;
const KEPT_BYTES_MAX = 2 * 1024 * 1024;

/** Give memory back once the operating system has taken all of it, and never after a failure. */
export class RequestMemory {
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;

  /** Memory of this size or more, with any content. */
  take(bytes: number): Buffer {
    const at = this.#kept.findLastIndex(({ length }) => length >= bytes);
    // If all are too small, the oldest makes room for a larger one.
    const [kept] = this.#kept.splice(Math.max(0, at), 1);
    this.#keptBytes -= kept?.length ?? 0;
    if (kept !== undefined && at >= 0) return kept;
    const step = bytes > LARGE_STEP_BYTES ? LARGE_STEP_BYTES : STEP_BYTES;
    return Buffer.allocUnsafeSlow(Math.ceil(bytes / step) * step);
  }

  /** Keeps memory from `take` for the next request. */
  giveBack(memory: Buffer): void {
    if (this.#keptBytes + memory.length > KEPT_BYTES_MAX) return;
    this.#kept.push(memory);
    this.#keptBytes += memory.length;
  }
}
