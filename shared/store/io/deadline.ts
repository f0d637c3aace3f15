// Deadlines of calls, and of waits within calls. The one timer of a store fires at the earliest.
import type { CallOptions } from '../contract/options.ts';
import { saysNothingWritten, StoreError } from '../contract/errors.ts';
import type { Runtime } from '../contract/runtime.ts';
import type { Driver, RemoveOutcome, WriteOutcome } from '../contract/driver.ts';

/** When one call ends. Fixed when it begins. */
export interface Deadline {
  readonly dueMs: number;
  readonly signal: AbortSignal | undefined;
}

interface Watched {
  readonly dueMs: number;
  readonly end: (cause: unknown) => void;
}

/** What is known of the provider, and reported by the error at a deadline. */
export interface ProviderState {
  /** Where requests are sent. */
  readonly address?: string | undefined;
  /** The latest error of a request that is being tried again; undefined if there is none. */
  readonly failure: () => StoreError | undefined;
}

export class Deadlines {
  readonly #runtime: Runtime;
  readonly #defaultTimeoutMs: number;
  readonly #provider: ProviderState;
  readonly #watched = new Set<Watched>();
  #wakeMs = Infinity;
  #sleeper: AbortController | undefined;
  /** The error that ends all calls; undefined until the store is closed. */
  #closedBy: StoreError | undefined;
  #held = 0;

  /** Throws `invalid` for a default timeout that is out of range. */
  constructor(runtime: Runtime, defaultTimeoutMs: number, provider: ProviderState = { failure: () => undefined }) {
    checkTimeout(defaultTimeoutMs);
    this.#provider = provider;
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

  /** Whether the call is over, by the clock: the timer cannot fire while work never yields. */
  isOver(deadline: Deadline, nowMs = this.#runtime.monotonicMs()): boolean {
    return this.#closedBy !== undefined || isPast(deadline, nowMs);
  }

  /** Why the call is over: the closing of the store, its signal, or undefined for its deadline. */
  causeOf({ signal }: Deadline): unknown {
    return this.#closedBy ?? signal?.reason;
  }

  /** Why a call reached its deadline: the error of its change, else of another request. */
  failureOf(cause: unknown, ofChange?: StoreError): StoreError | undefined {
    return cause === undefined ? (ofChange ?? this.#provider.failure()) : undefined;
  }

  /** The error of a call that ended before it wrote anything. */
  aborted(cause: unknown): StoreError {
    return this.failureOf(cause) ?? abortedError(cause, this.#provider.address);
  }

  /** Runs a call of several steps, which `count` includes between the steps too. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    try {
      return await work();
    } finally {
      this.#held -= 1;
    }
  }

  /** Calls `end` at the deadline or abort, once, unless the returned function is called before. */
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

  /** The result of `work`. Rejects with `atEnd`'s error at the deadline; the work goes on. */
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
      // `watch` read the clock: a second reading might differ, and leave the call without a timer.
      if (isEnded) return;
      passOn(work(), unwatch, resolve, reject);
    });
  }

  /** The result of `work` if it comes within `ms`, else undefined, and the work goes on. */
  within<T>(ms: number, work: Promise<T>, nowMs = this.#runtime.monotonicMs()): Promise<T | undefined> {
    const deadline = { dueMs: nowMs + ms, signal: undefined };
    return new Promise((resolve, reject) => {
      const unwatch = this.watch(deadline, () => resolve(undefined), nowMs);
      passOn(work, unwatch, resolve, reject);
    });
  }

  /** Ends all calls and waits, and refuses further calls. */
  close(cause: StoreError): void {
    this.#closedBy = cause;
    for (const watched of this.#watched) watched.end(cause);
    this.#sleeper?.abort();
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined;
  }

  /** How many calls and waits are under way. */
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

/** Calls `ended`, then passes on the outcome. Promise.race would make a dozen promises. */
function passOn<T>(
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

/** The error of a call that ended before it wrote anything, named as `fetch` names such errors. */
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

/** The upper bound is that of timers. */
function checkTimeout(timeoutMs: number): void {
  if (!(timeoutMs > 0) || timeoutMs > 2 ** 31 - 1)
    throw new StoreError('invalid', 'timeoutMs must be above 0 and below 2^31');
}

/**
 * The driver of an administrative call. It notes whether the call may have written anything, and
 * refuses further requests once the call has ended.
 */
export class CallDriver {
  readonly driver: Driver;
  readonly #deadlines: Pick<Deadlines, 'aborted' | 'failureOf'>;
  readonly #over = new AbortController();
  /** The error of the last write or removal if it was throttled; otherwise undefined. */
  #throttling: unknown;
  /** How many requests wrote something, or may have. */
  #changes = 0;

  constructor(driver: Driver, deadlines: Pick<Deadlines, 'aborted' | 'failureOf'>) {
    this.#deadlines = deadlines;
    const ask = <T>(send: () => Promise<T>): Promise<T> =>
      this.ended.aborted ? Promise.reject(abortedError(undefined)) : send();
    const change = async <O extends WriteOutcome | RemoveOutcome>(
      send: () => Promise<readonly O[]>,
    ): Promise<readonly O[]> => {
      if (!this.ended.aborted) this.#changes += 1;
      const outcomes = await ask(send);
      if (outcomes.every(isRefusedForGood)) this.#changes -= 1;
      this.#throttling = throttlingOf(outcomes);
      return outcomes;
    };
    this.driver = {
      limits: driver.limits,
      read: (requests, options) => ask(() => driver.read(requests, options)),
      list: (prefix, cursor, count, options) => ask(() => driver.list(prefix, cursor, count, options)),
      write: (writes, options) => change(() => driver.write(writes, options)),
      remove: (removals, options) => change(() => driver.remove(removals, options)),
      close: () => driver.close(),
    };
  }

  /** Aborts when the call was ended by its deadline, its signal or the closing of the store. */
  get ended(): AbortSignal {
    return this.#over.signal;
  }

  /** The error for the caller: after a write, "nothing was written" becomes `unknown`. */
  failure(error: unknown): unknown {
    return this.#changes > 0 && saysNothingWritten(error) ? this.end(error) : error;
  }

  /** Ends the call, and returns the error for its caller: `aborted`, or `unknown` after a write. */
  end(cause: unknown): StoreError {
    this.#over.abort();
    if (this.#changes === 0) return this.#deadlines.aborted(cause);
    const message = 'the call ended when some of its writes had been sent: call again to finish what it began';
    return new StoreError('unknown', message, { cause: cause ?? this.#throttling ?? this.#deadlines.failureOf(cause) });
  }
}

/** Whether the write was certainly not applied, and no read is needed to confirm it. */
function isRefusedForGood(outcome: WriteOutcome | RemoveOutcome): boolean {
  return outcome.kind === 'refused' && outcome.reason !== 'condition' && outcome.reason !== 'throttled';
}

function throttlingOf(outcomes: readonly (WriteOutcome | RemoveOutcome)[]): unknown {
  for (const outcome of outcomes)
    if (outcome.kind === 'refused' && outcome.reason === 'throttled') return outcome.cause;
  return undefined;
}
