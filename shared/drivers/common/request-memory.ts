// Reuses requests' memory. Fresh memory outside V8's heap brought on full collections,
// which cost each put as much as its request.

/** Kept memory is a multiple of this: most requests of writes fit. */
const STEP_BYTES = 16 * 1024;
/** Larger requests are rare, and would keep their memory for nothing. */
const KEPT_BYTES_MAX = 256 * 1024;
/** The most that is kept for the next requests. */
const KEPT_MAX = 8;

/** Give memory back once the operating system has taken it all. A failed request's stays out. */
export class RequestMemory {
  readonly #kept: Buffer[] = [];

  /** Memory of this size or more, with any content. */
  take(bytes: number): Buffer {
    const kept = this.#kept.pop();
    // One that is too small makes room for a larger one.
    if (kept !== undefined && kept.length >= bytes) return kept;
    return Buffer.allocUnsafeSlow(bytes > KEPT_BYTES_MAX ? bytes : Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
  }

  /** Keeps memory from `take` for the next request. */
  giveBack(memory: Buffer): void {
    if (memory.length <= KEPT_BYTES_MAX && this.#kept.length < KEPT_MAX) this.#kept.push(memory);
  }
}
