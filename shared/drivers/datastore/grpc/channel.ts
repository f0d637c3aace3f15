// Makes unary gRPC calls to one service over few connections, and sends nothing twice. Google's
// library fetches and renews the tokens.
import { StoreError } from '../../../store/contract/errors.ts';
import { DeadlineError, NotSentError, withDeadline } from '../../common/driver-outcomes.ts';
import { driverClosed } from '../../common/under-way.ts';
import { Call, CODE, type Request, StatusError } from './call.ts';
import { Session } from './session.ts';

/** Another connection opens when all are full. With all open and full, calls wait. */
const SESSIONS_MAX = 4;

/** The pause after a connection could not be opened, if there are others. */
const REOPEN_MS = 1_000;

/** With calls under way, connections are checked at least so often. */
const CHECK_MS = 2_000;

/** `grpc-timeout` has at most eight digits. */
const TIMEOUT_MS_MAX = 99_999_999;

export interface ChannelOptions {
  /** `http://host:port` in plain text, or `https://host`. */
  readonly address: URL;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Default: no credentials. */
  readonly auth?: Auth;
}

export class Channel {
  readonly #address: URL;
  /** Names and values in turn. */
  readonly #headers: readonly string[];
  readonly #tokens: Tokens | undefined;
  readonly #calls = new Set<Call>();
  /** Calls that are not sent yet, in their order. */
  readonly #waiting = new Set<Call>();
  readonly #sessions = new Set<Session>();
  /** Until then no connection is opened beside others. */
  #reopenMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #wakeMs = Infinity;
  #isClosed = false;

  /** No I/O. */
  constructor({ address, headers, auth }: ChannelOptions) {
    this.#address = address;
    const pseudo = { ':method': 'POST', ':scheme': address.protocol.slice(0, -1), ':authority': address.host };
    const own = { ...pseudo, ...headers };
    this.#headers = Object.entries(own).flat();
    this.#tokens = auth === undefined ? undefined : new Tokens(auth, address.href, own);
  }

  /** Rejects with a StatusError or a DeadlineError, or with a NotSentError if it never left. */
  unary(request: Request): Promise<Buffer> {
    if (this.#isClosed) return Promise.reject(new NotSentError(driverClosed()));
    return new Promise((resolve, reject) => {
      const nowMs = performance.now();
      const call = new Call(request, nowMs, (result) => {
        this.#ended(call, result);
        if (!(result instanceof Error)) resolve(result);
        else reject(call.sentMs === undefined ? new NotSentError(result) : result);
      });
      this.#add(call, nowMs);
    });
  }

  /** Ends connections and the calls under way, whose outcomes are unknown. Idempotent. */
  close(): void {
    this.#isClosed = true;
    const error = new StatusError(CODE.CANCELLED, 'the driver was closed');
    for (const call of this.#calls) call.end(error);
    for (const session of this.#sessions) session.destroy(error);
    clearTimeout(this.#timer);
  }

  #add(call: Call, nowMs: number): void {
    this.#calls.add(call);
    if (this.#calls.size === 1) this.#timer?.ref();
    this.#wakeBy(Math.min(call.dueMs, nowMs + CHECK_MS));
    if (this.#tokens === undefined || this.#tokens.isFresh(nowMs)) this.#enqueue(call, nowMs);
    else void this.#authorize(this.#tokens, call);
  }

  async #authorize(tokens: Tokens, call: Call): Promise<void> {
    try {
      await tokens.fetch();
    } catch (error) {
      call.end(error as StoreError);
    }
    if (!call.isEnded) this.#enqueue(call, performance.now());
  }

  #enqueue(call: Call, nowMs: number): void {
    this.#waiting.add(call);
    this.#dispatch(nowMs);
  }

  #ended(call: Call, result: Buffer | Error): void {
    this.#calls.delete(call);
    this.#waiting.delete(call);
    if (this.#calls.size === 0) this.#timer?.unref();
    if (result instanceof StatusError && result.code === CODE.UNAUTHENTICATED) this.#tokens?.forget();
  }

  /** Sends waiting calls as long as there is room. */
  #dispatch(nowMs: number): void {
    for (const call of this.#waiting) {
      const session = this.#sessionWithRoom(nowMs);
      if (session === undefined) return;
      // The end of a session calls this again, which may have sent the call meanwhile.
      if (this.#waiting.delete(call)) this.#send(call, session, nowMs);
    }
  }

  #send(call: Call, session: Session, nowMs: number): void {
    const timeoutMs = Math.min(Math.max(Math.ceil(call.untilMs - nowMs), 1), TIMEOUT_MS_MAX);
    const headers = this.#tokens?.headers ?? this.#headers;
    try {
      session.send(call, [':path', call.request.path, 'grpc-timeout', `${timeoutMs}m`, ...headers], nowMs);
    } catch (error) {
      call.end(new StatusError(CODE.INTERNAL, 'the request could not be sent', { cause: error }));
    }
  }

  /** Takes the first with room, so that the others become idle and close if they are not needed. */
  #sessionWithRoom(nowMs: number): Session | undefined {
    for (const session of this.#sessions) {
      session.refresh(nowMs);
      if (session.hasRoom) return session;
    }
    if (this.#mayOpen(nowMs))
      this.#sessions.add(new Session(this.#address, nowMs, (session) => this.#changed(session)));
    return undefined;
  }

  /** One connection is opened at a time. */
  #mayOpen(nowMs: number): boolean {
    const states = [...this.#sessions].map(({ state }) => state);
    const openCount = states.filter((state) => state === 'open').length;
    return !states.includes('opening') && openCount < SESSIONS_MAX && (openCount === 0 || nowMs >= this.#reopenMs);
  }

  #changed(session: Session): void {
    if (session.state === 'ended') this.#sessions.delete(session);
    const { failure } = session;
    if (failure !== undefined) this.#failed(failure);
    if (!this.#isClosed) this.#dispatch(performance.now());
  }

  /** Fails waiting calls if no connection is open, so that they do not try for ever. */
  #failed(failure: StatusError): void {
    this.#reopenMs = performance.now() + REOPEN_MS;
    if ([...this.#sessions].some(({ state }) => state === 'open')) return;
    for (const call of this.#waiting) call.end(failure);
  }

  /** All calls share one timer, because most end long before their deadlines. */
  #wakeBy(atMs: number): void {
    if (atMs >= this.#wakeMs) return;
    clearTimeout(this.#timer);
    this.#wakeMs = atMs;
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, atMs - performance.now()));
    if (this.#calls.size === 0) this.#timer.unref();
  }

  #wake(): void {
    this.#timer = undefined;
    this.#wakeMs = Infinity;
    const nowMs = performance.now();
    let nextMs = Infinity;
    for (const call of this.#calls) {
      if (call.isDue(nowMs)) this.#expire(call);
      else nextMs = Math.min(nextMs, call.dueMs);
    }
    for (const session of this.#sessions) nextMs = Math.min(nextMs, session.check(nowMs));
    this.#wakeBy(nextMs);
  }

  #expire(call: Call): void {
    const isAuthorized = this.#waiting.has(call) || call.sentMs !== undefined;
    const from = isAuthorized ? this.#address.origin : 'the credentials';
    call.end(new DeadlineError(Math.round(call.dueMs - call.begunMs), from));
    for (const session of this.#sessions) session.missed(call);
  }
}

/** Source of credentials: a `GoogleAuth` of google-auth-library 10 or later. */
export interface Auth {
  getClient(): Promise<{
    /** Names and values, such as `Headers`. */
    getRequestHeaders(url: string): Promise<Iterable<readonly [name: string, value: string]>>;
  }>;
}

/** How long headers are kept. To ask the library for each request would take promises. */
const FRESH_MS = 60_000;
const FETCH_TIMEOUT_MS = 20_000;
const FROM = 'the credentials';

export class Tokens {
  /** The headers of the last fetch with `others`, as names and values in turn. */
  headers: readonly string[] = [];
  readonly #auth: Auth;
  readonly #url: string;
  readonly #others: Readonly<Record<string, string>>;
  #fetchedMs = -Infinity;
  #fetching: Promise<void> | undefined;

  /** `url` ends with a slash, as in signed tokens. A token's header replaces one of `others`. */
  constructor(auth: Auth, url: string, others: Readonly<Record<string, string>>) {
    this.#auth = auth;
    this.#url = url;
    this.#others = others;
  }

  /** Whether the headers may be used without a fetch. */
  isFresh(nowMs: number): boolean {
    return nowMs - this.#fetchedMs < FRESH_MS;
  }

  /** All callers share one fetch. Rejects with a StoreError. */
  fetch(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  /** Call this if the service refused the headers. */
  forget(): void {
    this.#fetchedMs = -Infinity;
  }

  async #fetch(): Promise<void> {
    const nowMs = performance.now();
    try {
      const client = await withDeadline(this.#auth.getClient(), FETCH_TIMEOUT_MS, FROM);
      const headers: unknown = await withDeadline(client.getRequestHeaders(this.#url), FETCH_TIMEOUT_MS, FROM);
      if (!isIterable(headers)) throw new TypeError('use google-auth-library 10 or later');
      this.headers = Object.entries({ ...this.#others, ...Object.fromEntries(headers) }).flat();
      this.#fetchedMs = nowMs;
    } catch (cause) {
      throw noCredentials(cause);
    }
  }
}

function isIterable(headers: unknown): headers is Iterable<readonly [string, string]> {
  return typeof headers === 'object' && headers !== null && Symbol.iterator in headers;
}

/** The error of requests for which the credentials gave no token. */
export function noCredentials(cause: unknown): StoreError {
  const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  const advice = 'no credentials for datastore: run gcloud auth application-default login, or give others as auth';
  const retryable = !/default credentials|invalid_grant|reauth/i.test(why!);
  return new StoreError('unavailable', `${advice}: ${why}`, { retryable, cause });
}
