// Memory of requests, used again. It lies outside of V8's heap: what it was given and did not free brought on full collections, which cost each put as
// much as its request.

/** What is kept is a multiple of this: most requests of writes fit. */
const STEP_BYTES = 16 * 1024;
/** Larger requests are rare, and would keep their memory for nothing. */
const KEPT_BYTES_MAX = 256 * 1024;
/** So many at most are kept for the next requests. */
const KEPT_MAX = 8;

/** Memory is another request's once it was given back: only what the operating system has taken all of may be. What fails is not given back. */
export class RequestMemory {
  readonly #kept: Buffer[] = [];

  /** So many bytes, or more; of any content. */
  take(bytes: number): Buffer {
    const kept = this.#kept.pop();
    // One that is too small makes room for a larger one.
    if (kept !== undefined && kept.length >= bytes) return kept;
    return Buffer.allocUnsafeSlow(bytes > KEPT_BYTES_MAX ? bytes : Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
  }

  /** What `take` gave, to be used again. */
  giveBack(memory: Buffer): void {
    if (memory.length <= KEPT_BYTES_MAX && this.#kept.length < KEPT_MAX) this.#kept.push(memory);
  }
}
