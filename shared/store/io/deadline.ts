// Deadlines of calls and of waits within. A store's one timer sleeps until the earliest.
import type { CallOptions } from '../contract/options.ts';
import { StoreError } from '../contract/errors.ts';
import type { Runtime } from '../contract/runtime.ts';

/** The end of one call, fixed when it begins. */
export interface Deadline {
  readonly dueMs: number;
  readonly signal: AbortSignal | undefined;
}

interface Watched {
  readonly dueMs: number;
  readonly end: (cause: unknown) => void;
}

/** Tells the error at a deadline what the call may be waiting for. */
export interface Awaited {
  /** The place that requests go to. */
  readonly address?: string | undefined;
  /** Why requests fail at present that are tried again; undefined if none does. */
  readonly failure: () => StoreError | undefined;
}

export class Deadlines {
  readonly #runtime: Runtime;
  readonly #defaultTimeoutMs: number;
  readonly #awaited: Awaited;
  readonly #watched = new Set<Watched>();
  #wakeMs = Infinity;
  #sleeper: AbortController | undefined;
  /** Why it was closed, once it is. */
  #closedBy: StoreError | undefined;
  #held = 0;

  /** Throws `invalid` for a default that no call could have. */
  constructor(runtime: Runtime, defaultTimeoutMs: number, awaited: Awaited = { failure: () => undefined }) {
    checkTimeout(defaultTimeoutMs);
    this.#awaited = awaited;
    this.#runtime = runtime;
    this.#defaultTimeoutMs = defaultTimeoutMs;
  }

  /** Fixes the deadline of a call that begins now. Throws `invalid` once the store is closed. */
  begin(options: CallOptions | undefined, nowMs = this.#runtime.monotonicMs()): Deadline {
    if (this.#closedBy !== undefined) throw new StoreError('invalid', 'the store is closed');
    const timeoutMs = options?.timeoutMs ?? this.#defaultTimeoutMs;
    checkTimeout(timeoutMs);
    return { dueMs: nowMs + timeoutMs, signal: options?.signal };
  }

  /** By the clock: work that never waits keeps the timer from firing. True once it is closed. */
  isOver(deadline: Deadline, nowMs = this.#runtime.monotonicMs()): boolean {
    return this.#closedBy !== undefined || isPast(deadline, nowMs);
  }

  /** The cause to tell of a call that is over; undefined: its deadline passed. */
  causeOf({ signal }: Deadline): unknown {
    return this.#closedBy ?? signal?.reason;
  }

  /** Why a call cannot go on whose deadline passed: that of its change, else of other requests. */
  failureOf(cause: unknown, ofChange?: StoreError): StoreError | undefined {
    return cause === undefined ? (ofChange ?? this.#awaited.failure()) : undefined;
  }

  /** The error of a call that ended before a write: at its deadline that of what fails. */
  aborted(cause: unknown): StoreError {
    return this.failureOf(cause) ?? abortedError(cause, this.#awaited.address);
  }

  /** A call of several steps: it counts as under way between them, too. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    try {
      return await work();
    } finally {
      this.#held -= 1;
    }
  }

  /** Calls `end` once at the deadline or abort, unless the returned function came first. */
  watch(deadline: Deadline, end: (cause: unknown) => void, nowMs = this.#runtime.monotonicMs()): () => void {
    const { dueMs, signal } = deadline;
    const watched: Watched = {
      dueMs,
      end: (cause) => {
        unwatch();
        end(cause);
      },
    };
    const onAbort = (): void => watched.end(signal?.reason);
    const unwatch = (): void => {
      this.#watched.delete(watched);
      signal?.removeEventListener('abort', onAbort);
    };
    if (isPast(deadline, nowMs)) {
      end(signal?.reason);
      return unwatch;
    }
    signal?.addEventListener('abort', onAbort);
    this.#watched.add(watched);
    if (watched.dueMs < this.#wakeMs) this.#rearm(watched.dueMs);
    return unwatch;
  }

  /** The result of `work`; rejects with `atEnd`'s error at the deadline. The work goes on. */
  bound<T>(
    deadline: Deadline,
    work: () => Promise<T>,
    atEnd: (cause: unknown) => StoreError = (cause) => this.aborted(cause),
  ): Promise<T> {
    if (this.#closedBy !== undefined) return Promise.reject(atEnd(this.#closedBy));
    return new Promise<T>((resolve, reject) => {
      let isEnded = false;
      const unwatch = this.watch(deadline, (cause) => {
        isEnded = true;
        reject(atEnd(cause));
      });
      // A second look at the clock may differ from the watch's, whose timer keeps no process alive.
      if (isEnded) return;
      settle(work(), unwatch, resolve, reject);
    });
  }

  /** The result of `work` if it is there within `ms`, else undefined; the work goes on. */
  within<T>(ms: number, work: Promise<T>, nowMs = this.#runtime.monotonicMs()): Promise<T | undefined> {
    const deadline = { dueMs: nowMs + ms, signal: undefined };
    return new Promise((resolve, reject) => {
      const unwatch = this.watch(deadline, () => resolve(undefined), nowMs);
      settle(work, unwatch, resolve, reject);
    });
  }

  /** Ends every call and every wait, and lets no further call begin. */
  close(cause: StoreError): void {
    this.#closedBy = cause;
    for (const watched of this.#watched) watched.end(cause);
    this.#sleeper?.abort();
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined;
  }

  /** Calls and waits under way. */
  get count(): number {
    return this.#watched.size + this.#held;
  }

  #rearm(dueMs: number): void {
    this.#sleeper?.abort();
    this.#wakeMs = dueMs;
    const sleeper = new AbortController();
    this.#sleeper = sleeper;
    void this.#runtime.watch(Math.max(1, Math.ceil(dueMs - this.#runtime.monotonicMs())), sleeper.signal).then(() => {
      if (this.#sleeper === sleeper) this.#wake();
    });
  }

  #wake(): void {
    const nowMs = this.#runtime.monotonicMs();
    for (const watched of this.#watched) if (watched.dueMs <= nowMs) watched.end(undefined);
    let next = Infinity;
    for (const { dueMs } of this.#watched) next = Math.min(next, dueMs);
    this.#sleeper = undefined;
    this.#wakeMs = Infinity;
    if (next < Infinity) this.#rearm(next);
  }
}

/** Calls `ended`, then hands on. Promise.race and `finally` would make a dozen promises. */
function settle<T>(
  work: Promise<T>,
  ended: () => void,
  resolve: (result: T) => void,
  reject: (error: unknown) => void,
): void {
  work.then(
    (result) => {
      ended();
      resolve(result);
    },
    (error: unknown) => {
      ended();
      reject(error);
    },
  );
}

/** The end of a call before a write, by the name that `fetch` would give. */
export function abortedError(cause: unknown, address?: string, before = 'anything was written'): StoreError {
  const isDeadline = cause === undefined || (cause as Error | null)?.name === 'TimeoutError';
  const why = isDeadline ? 'the deadline passed' : 'the call was aborted';
  const where = isDeadline && address !== undefined ? `: provider=${address}` : '';
  const error = new StoreError('aborted', `${why} before ${before}${where}`, { cause });
  error.name = isDeadline ? 'TimeoutError' : 'AbortError';
  return error;
}

function isPast({ dueMs, signal }: Deadline, nowMs: number): boolean {
  return signal?.aborted === true || dueMs <= nowMs;
}

/** Timers take no more. */
function checkTimeout(timeoutMs: number): void {
  if (!(timeoutMs > 0) || timeoutMs > 2 ** 31 - 1)
    throw new StoreError('invalid', 'timeoutMs must be above 0 and below 2^31');
}
