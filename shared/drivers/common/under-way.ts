// A client's requests under way. Each ends by its reply, its deadline or the client's close.
import { StoreError } from '../../store/contract/errors.ts';
import { DeadlineError, NotSentError } from './driver-outcomes.ts';

/** A request that can be given up. */
interface Sent {
  destroy(): unknown;
}

/** Node.js ignores a longer time. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Times are those of `performance.now()`. */
interface Deadline {
  readonly untilMs: number;
  readonly beganMs: number;
  /** It also ends after so long without a byte. */
  readonly silenceMs: number;
  /** When the last byte came, or else when it got a socket; infinite before that. */
  heardMs: number;
  readonly fail: (error: Error) => void;
}

/** Has one timer for all: a timer per request took longer than the driver's own work. */
export class UnderWay {
  readonly #deadlines = new Map<Sent, Deadline>();
  #timer: NodeJS.Timeout | undefined;
  #wakeMs = Infinity;
  #isClosed = false;

  /** Throws a NotSentError if it is too late to send a request with this deadline. */
  check(untilMs: number): void {
    if (this.#isClosed) throw new NotSentError(driverClosed());
    if (untilMs <= performance.now()) throw new NotSentError(new DeadlineError(0));
  }

  /** Fails with a DeadlineError at `untilMs` or after `silenceMs` of silence, unless deleted. */
  add(sent: Sent, untilMs: number, silenceMs: number, fail: (error: Error) => void): void {
    const beganMs = performance.now();
    this.#deadlines.set(sent, { untilMs, beganMs, silenceMs, heardMs: Infinity, fail });
    this.#wakeBy(untilMs, beganMs);
  }

  /** The request got a socket, or a part of its reply. */
  heard(sent: Sent): void {
    const deadline = this.#deadlines.get(sent);
    if (deadline === undefined) return;
    deadline.heardMs = performance.now();
    this.#wakeBy(dueMs(deadline), deadline.heardMs);
  }

  delete(sent: Sent): void {
    this.#deadlines.delete(sent);
  }

  /** Gives up what is under way. Idempotent. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const [sent, { fail }] of this.#deadlines) giveUp(sent, fail, new Error('the request was given up'));
  }

  #wakeBy(atMs: number, nowMs: number): void {
    if (atMs >= this.#wakeMs) return;
    clearTimeout(this.#timer);
    this.#wakeMs = atMs;
    this.#timer = setTimeout(() => this.#wake(), Math.min(Math.ceil(atMs - nowMs), TIMER_MS_MAX));
    // Only the sockets of requests are to keep the process alive.
    this.#timer.unref();
  }

  #wake(): void {
    this.#wakeMs = Infinity;
    const nowMs = performance.now();
    let nextMs = Infinity;
    for (const [sent, deadline] of this.#deadlines) {
      const atMs = dueMs(deadline);
      if (atMs <= nowMs) giveUp(sent, deadline.fail, new DeadlineError(Math.round(atMs - deadline.beganMs)));
      else nextMs = Math.min(nextMs, atMs);
    }
    if (nextMs < Infinity) this.#wakeBy(nextMs, nowMs);
  }
}

/** The error of every call after `close`. */
export function driverClosed(): StoreError {
  return new StoreError('unavailable', 'the driver is closed, open another', { retryable: false });
}

function dueMs({ untilMs, heardMs, silenceMs }: Deadline): number {
  return Math.min(untilMs, heardMs + silenceMs);
}

/** Fails the call first, before Node.js reports that its request was destroyed. */
function giveUp(sent: Sent, fail: (error: Error) => void, error: Error): void {
  fail(error);
  sent.destroy();
}

/** Calls of the user's own client, each until its deadline. */
export class ClientCalls {
  readonly #underWay = new UnderWay();

  /** Rejects with a DeadlineError after `timeoutMs`, with a StoreError after `close`. */
  async run<T>(timeoutMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const untilMs = performance.now() + timeoutMs;
    this.#underWay.check(untilMs);
    const controller = new AbortController();
    const request = { destroy: () => controller.abort() };
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.#underWay.add(request, untilMs, Infinity, reject);
    try {
      return await Promise.race([call(controller.signal), givenUp]);
    } finally {
      this.#underWay.delete(request);
    }
  }

  /** Gives up the calls under way. The client's owner closes the client. */
  close(): void {
    this.#underWay.close();
  }
}
