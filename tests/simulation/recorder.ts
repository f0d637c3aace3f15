// Writes down what callers asked and were told, record by record, in the terms of history.ts; and what can be judged at once: versions that
// repeat, a write that shows twice, errors that no fault explains.
import { StoreError } from '../../shared/store/index.ts';
import type { Events } from './events.ts';
import { type Effect, isLinearizable, type Operation, OPERATIONS_MAX, type State } from './history.ts';
import type { Life } from './process.ts';

/** What a record's value holds. */
export interface Value {
  readonly id: string;
  readonly padding: string;
}

/** When a write's record expires: between these wall times, as the process that wrote reads them. */
interface Expiry {
  fromMs: number;
  toMs: number;
}

/** An operation under way: where and when it began. */
export interface Call {
  readonly life: Life;
  readonly calledAt: number;
  readonly calledMs: number;
  readonly wallFromMs: number;
  readonly jumpsMs: number;
  readonly naps: number;
}

/** By which wall times a call may have judged what has expired. */
interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The first tell enough. */
const COMPLAINTS_MAX = 5;
/** Timers are set in whole milliseconds, one for each wave of a batch. */
const LATE_MS = 40;

export class Recorder {
  readonly complaints: string[] = [];
  readonly #events: Events;
  readonly #nowMs: () => number;
  readonly #histories = new Map<string, Operation[]>();
  readonly #idOfVersion = new Map<string, string>();
  readonly #versionOfId = new Map<string, string>();
  readonly #expiries = new Map<string, Expiry>();
  /** The time of each moment. */
  readonly #times: number[] = [];

  constructor(events: Events, nowMs: () => number) {
    this.#events = events;
    this.#nowMs = nowMs;
  }

  begin(life: Life, maxAgeMs = 0): Call {
    const now = this.#moment();
    const calledAt = maxAgeMs > 0 ? this.#momentAt(this.#nowMs() - maxAgeMs) : now;
    const { wallJumpsMs } = life.process;
    return {
      life,
      calledAt,
      calledMs: this.#nowMs(),
      wallFromMs: life.wallMs(),
      jumpsMs: wallJumpsMs,
      // Whoever calls while its process falls asleep is answered when it wakes.
      naps: life.wakesAtMs > this.#nowMs() ? -1 : life.naps,
    };
  }

  /** The write `id` has, or would have, an expiry; when is known once it was answered. */
  expires(id: string, ttlMs: number | undefined): void {
    if (ttlMs !== undefined) this.#expiries.set(id, { fromMs: -Infinity, toMs: Infinity });
  }

  /** The write `id` keeps the expiry of the record it replaced. */
  expiresAs(id: string, before: State): void {
    const expiry = before === undefined ? undefined : this.#expiries.get(before);
    if (expiry !== undefined) this.#expiries.set(id, expiry);
  }

  /** Adds an operation that answered, or (`isKnown` false) whose fate nobody knows. Its effect may consult `views`. */
  add(
    key: string,
    name: string,
    call: Call,
    isKnown: boolean,
    effect: (window: Window) => Effect,
    after?: Operation,
  ): Operation {
    const answeredAt = isKnown ? this.#moment() : Infinity;
    const window = isKnown ? this.#windowOf(call) : { fromMs: -Infinity, toMs: Infinity };
    const operation: Operation = { name, calledAt: call.calledAt, answeredAt, effect: effect(window), after };
    const history = this.#histories.get(key);
    if (history === undefined) this.#histories.set(key, [operation]);
    else history.push(operation);
    this.#events.tell(
      `p${call.life.process.index}.${call.life.number}`,
      `${key}: ${name}${isKnown ? '' : ' (fate unknown)'}`,
    );
    if (!isKnown) this.#events.count('operation of unknown fate');
    return operation;
  }

  /** The states in which `state` may have been seen: expired records as absent, where the clock allows it. */
  views(state: State, window: Window): State[] {
    const expiry = state === undefined ? undefined : this.#expiries.get(state);
    if (expiry === undefined) return [state];
    const seen: State[] = window.fromMs < expiry.toMs ? [state] : [];
    if (window.toMs >= expiry.fromMs) {
      seen.push(undefined);
      this.#events.count('record seen in doubt of its expiry, or expired');
    }
    return seen;
  }

  /** A record was shown: its version stands for one write of its key for ever, and its write has one version. */
  shows(key: string, version: string, id: string): void {
    const known = this.#idOfVersion.get(`${key} ${version}`);
    if (known !== undefined && known !== id)
      this.complain(`version ${version} of ${key} is that of ${known} and of ${id}`);
    this.#idOfVersion.set(`${key} ${version}`, id);
    const before = this.#versionOfId.get(`${key} ${id}`);
    if (before !== undefined && before !== version)
      this.complain(`${id} took effect twice on ${key}: as ${before} and as ${version}`);
    this.#versionOfId.set(`${key} ${id}`, version);
  }

  /** A put was answered: its expiry was computed by now. */
  settleExpiry(id: string, call: Call, ttlMs: number | undefined): void {
    const expiry = this.#expiries.get(id);
    if (expiry === undefined || ttlMs === undefined) return;
    const { fromMs, toMs } = this.#windowOf(call);
    expiry.fromMs = fromMs + ttlMs;
    expiry.toMs = toMs + ttlMs;
  }

  /** Judges how a call failed: whether it says that nothing was written. */
  fails(what: string, error: unknown, allowed: readonly string[]): 'nothing' | 'unknown' {
    const code = error instanceof StoreError ? error.code : 'no StoreError';
    this.#events.count(`answer ${code}`);
    if (!allowed.includes(code) || (error instanceof StoreError && error.message.includes('unexpectedly'))) {
      const { stack, cause } = error instanceof Error ? error : new Error(String(error));
      const why = cause instanceof Error ? ` because of ${cause.stack}` : '';
      this.complain(`${what} failed: ${stack?.split('\n').slice(0, 6).join(' | ')}${why}`);
    }
    return code === 'unknown' ? 'unknown' : 'nothing';
  }

  /** A call ended: in time, unless its process slept. */
  ends(what: string, call: Call, timeoutMs: number | undefined): void {
    const tookMs = this.#nowMs() - call.calledMs;
    if (call.life.naps === call.naps && tookMs > (timeoutMs ?? 30_000) + LATE_MS)
      this.complain(`${what} took ${tookMs} ms`);
  }

  complain(what: string): void {
    if (this.complaints.length < COMPLAINTS_MAX && !this.complaints.includes(what)) this.complaints.push(what);
    this.#events.tell('CHECK', what.split('\n')[0] ?? '');
  }

  /** Each record's answers must be explained by one order. */
  check(): void {
    for (const [key, history] of this.#histories) {
      if (history.length > OPERATIONS_MAX) this.complain(`${key} has too long a history to be checked`);
      else if (!isLinearizable(history)) this.complain(`no order explains ${key}:\n${told(history)}`);
    }
  }

  #windowOf(call: Call): Window {
    const wallMs = call.life.wallMs();
    const jumpsMs = call.life.process.wallJumpsMs - call.jumpsMs;
    return { fromMs: Math.min(call.wallFromMs, wallMs) - jumpsMs, toMs: Math.max(call.wallFromMs, wallMs) + jumpsMs };
  }

  #moment(): number {
    return this.#times.push(this.#nowMs());
  }

  /** The first moment at or after a time. */
  #momentAt(timeMs: number): number {
    const index = this.#times.findIndex((each) => each >= timeMs);
    return index < 0 ? this.#times.length : index + 1;
  }
}

function told(history: readonly Operation[]): string {
  const sorted = history.toSorted((a, b) => a.calledAt - b.calledAt);
  return sorted.map(({ name, calledAt, answeredAt }) => `    ${calledAt}..${answeredAt} ${name}`).join('\n');
}
