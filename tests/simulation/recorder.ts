// Records calls and answers by record for history.ts. Judges versions and errors at once.
import { StoreError } from '../../shared/store/index.ts';
import { Complaints, type Events } from './events.ts';
import { isLinearizable, type Operation, OPERATIONS_MAX, type State } from './history.ts';
import type { Caller } from './caller.ts';

/** What is to be known of a process that calls. */
type Calling = Pick<Caller, 'number' | 'process' | 'wallMs' | 'naps' | 'wakesAtMs'>;

/** A record expires between these wall times of the process that wrote it. */
interface Expiry {
  fromMs: number;
  toMs: number;
}

/** A call under way, with its beginning. */
export interface Call<Who extends Calling = Caller> {
  readonly life: Who;
  readonly calledAt: number;
  readonly calledMs: number;
  readonly wallFromMs: number;
  readonly jumpsMs: number;
  readonly naps: number;
}

/** Wall times by which a call may have judged expiry. */
interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Timers have whole milliseconds, and each wave of a batch sets one. */
const LATE_MS = 40;
/** An update of unknown fate may have run so often. */
const TRIES_MOST = 16;

/** The states that an operation may leave, where callers may see one of `seen` of the state. */
export type Judged = (seen: readonly State[], state: State) => readonly State[];

export class Recorder {
  readonly #complaints: Complaints;
  /** Written down so far. */
  operations = 0;
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
    this.#complaints = new Complaints(events);
    this.#nowMs = nowMs;
  }

  get complaints(): readonly string[] {
    return this.#complaints.all;
  }

  /** Records of which anything is written down. */
  get histories(): number {
    return this.#histories.size;
  }

  begin<Who extends Calling>(life: Who, maxAgeMs = 0): Call<Who> {
    const now = this.#moment();
    const calledAt = maxAgeMs > 0 ? this.#momentAt(this.#nowMs() - maxAgeMs) : now;
    const { wallJumpsMs } = life.process;
    return {
      life,
      calledAt,
      calledMs: this.#nowMs(),
      wallFromMs: life.wallMs(),
      jumpsMs: wallJumpsMs,
      // Called as its process falls asleep, it is answered after it wakes: lateness is not judged.
      naps: life.wakesAtMs > this.#nowMs() ? -1 : life.naps,
    };
  }

  /** The write `id` has a time to live. Its expiry is known once it is answered. */
  expires(id: string, ttlMs: number | undefined): void {
    if (ttlMs !== undefined) this.#expiries.set(id, { fromMs: -Infinity, toMs: Infinity });
  }

  /** The write `id` keeps the expiry of the record that it replaced. */
  expiresAs(id: string, before: State): void {
    const expiry = before === undefined ? undefined : this.#expiries.get(before);
    if (expiry !== undefined) this.#expiries.set(id, expiry);
  }

  /** Adds an operation with its answer, or with `isKnown` false if its fate is unknown. */
  add(
    key: string,
    name: string,
    call: Call<Calling>,
    isKnown: boolean,
    judged: Judged,
    more: Pick<Operation, 'after' | 'version' | 'isRead' | 'writes'> = {},
  ): Operation {
    const answeredAt = isKnown ? this.#moment() : Infinity;
    const window = isKnown ? this.#windowOf(call) : { fromMs: -Infinity, toMs: Infinity };
    const effect = (state: State): readonly State[] => judged(this.#views(state, window), state);
    const operation: Operation = { name, calledAt: call.calledAt, answeredAt, effect, ...more };
    this.operations += 1;
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

  /** The states that callers may see: `state`, or absent if its expiry lies in the window. */
  #views(state: State, window: Window): State[] {
    const expiry = state === undefined ? undefined : this.#expiries.get(state);
    if (expiry === undefined) return [state];
    const seen: State[] = window.fromMs < expiry.toMs ? [state] : [];
    if (window.toMs >= expiry.fromMs) {
      seen.push(undefined);
      this.#events.count('record seen in doubt of its expiry, or expired');
    }
    return seen;
  }

  /** A record was shown. A version belongs to one write of its key, and a write to one version. */
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

  /** A put was answered, so its expiry was computed before now. */
  settleExpiry(id: string, call: Call<Calling>, ttlMs: number | undefined): void {
    const expiry = this.#expiries.get(id);
    if (expiry === undefined || ttlMs === undefined) return;
    const { fromMs, toMs } = this.#windowOf(call);
    expiry.fromMs = fromMs + ttlMs;
    expiry.toMs = toMs + ttlMs;
  }

  /** Judges a failed call. Only the code `unknown` may have written. */
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

  /** A call ends in time unless its process slept. */
  ends(what: string, call: Call<Calling>, timeoutMs: number | undefined): void {
    const tookMs = this.#nowMs() - call.calledMs;
    if (call.life.naps === call.naps && tookMs > (timeoutMs ?? 30_000) + LATE_MS)
      this.complain(`${what} took ${tookMs} ms`);
  }

  complain(what: string): void {
    this.#complaints.complain(what);
  }

  /** Some order must explain each record's answers. */
  check(): void {
    for (const [key, history] of this.#histories) {
      if (history.length > OPERATIONS_MAX) this.complain(`${key} has too long a history to be checked`);
      else {
        const versioned = history.map((one) => this.#withVersion(key, one));
        const isExplained = isLinearizable(versioned);
        if (isExplained === undefined) this.#events.count('history with too many unknown fates to be judged');
        else if (!isExplained) this.complain(`no order explains ${key}:\n${told(versioned)}`);
      }
    }
  }

  /** A write of unknown fate took effect if its record was shown. */
  #withVersion(key: string, operation: Operation): Operation {
    const { version, writes } = operation;
    if (version !== undefined || writes === undefined) return operation;
    const ids = [writes, ...Array.from({ length: TRIES_MOST }, (_, at) => `${writes}.${at}`)];
    const shown = ids.map((id) => this.#versionOfId.get(`${key} ${id}`)).find((one) => one !== undefined);
    return shown === undefined ? operation : { ...operation, version: Number.parseInt(shown.split('-')[1]!, 36) };
  }

  #windowOf(call: Call<Calling>): Window {
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

function versionText({ version }: Operation): string {
  return version === undefined ? '' : `, version ${version}`;
}

function told(history: readonly Operation[]): string {
  const sorted = history.toSorted((a, b) => a.calledAt - b.calledAt);
  return sorted.map((one) => `    ${one.calledAt}..${one.answeredAt} ${one.name}${versionText(one)}`).join('\n');
}
