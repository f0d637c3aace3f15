// Reuses requests' memory. Fresh memory outside V8's heap brought on full collections,
// which cost each put as much as its request.

/** Kept memory is a multiple of this: most requests of writes fit. */
const STEP_BYTES = 16 * 1024;
/** So is larger memory of this: new nodes, which a bulk load sends, differ a little in size. */
const LARGE_STEP_BYTES = 256 * 1024;
/** The most that is kept for the next requests. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024;

/** Give memory back once the operating system has taken it all. A failed request's stays out. */
export class RequestMemory {
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;

  /** Memory of this size or more, with any content. */
  take(bytes: number): Buffer {
    const at = this.#kept.findLastIndex(({ length }) => length >= bytes);
    // The oldest of those that are too small makes room for a larger one.
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
