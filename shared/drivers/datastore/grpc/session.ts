// One HTTP/2 connection, from its opening to its end, and the calls on it.
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Call } from './call.ts';
import { CODE, StatusError } from './status.ts';

/** Streams at a time, unless the service allows fewer. */
const STREAMS_MAX = 100;

/** From the first packet to the service's settings. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * After SILENCE_MS without a byte a ping looks for a path. Google tolerated one each 30 s, not each
 * 10 s (github.com/googleapis/java-bigtable/pull/528).
 */
const SILENCE_MS = 2_000;
const PING_TIMEOUT_MS = 3_000;
const PING_INTERVAL_MS = 30_000;

/**
 * Without calls for this long it is left: balancers and translators of addresses forget idle
 * connections without a word.
 */
const IDLE_MS = 4 * 60_000;

/** A container comes in one window, not in a round trip for each 64 KiB. */
const STREAM_WINDOW_BYTES = 2 * 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;
/**
 * Node refuses replies while more than 10 MB wait to be sent; callers bound that themselves. Above
 * 4,294 its product of 32 bits wraps.
 */
const MEMORY_MB_MAX = 4_000;

const WITH_MESSAGE = { endStream: false };

/**
 * It takes calls while it is open, lets those under way go on while it is leaving, and holds
 * nothing once it has ended.
 */
export type SessionState = 'opening' | 'open' | 'leaving' | 'ended';

/**
 * In plain text to an `http:` address, which HTTP/2 allows where it is known what listens there;
 * else in TLS.
 */
export class Session {
  readonly #changed: (session: Session) => void;
  readonly #origin: string;
  readonly #socket: Socket;
  readonly #http2: ClientHttp2Session;
  readonly #openedMs: number;
  readonly #calls = new Set<Call>();
  #state: SessionState = 'opening';
  #streamsMax = 0;
  #hasCarried = false;
  #failure: StatusError | undefined;
  /** When something came last, or the first of the calls under way began. */
  #heardMs: number;
  #pingMs = -Infinity;
  #pingBytesRead = 0;

  /**
   * `changed`: its state is another, or a stream came free. Not called before the constructor has
   * returned.
   */
  constructor(address: URL, nowMs: number, changed: (session: Session) => void) {
    this.#changed = changed;
    this.#origin = address.origin;
    this.#openedMs = nowMs;
    this.#heardMs = nowMs;
    this.#socket = socketTo(address);
    this.#http2 = connectHttp2(address, {
      createConnection: () => this.#socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      maxSessionMemory: MEMORY_MB_MAX,
    });
    this.#http2.on('connect', () => this.#connected());
    this.#http2.on('remoteSettings', ({ maxConcurrentStreams }) => this.#settled(maxConcurrentStreams));
    this.#http2.on('goaway', (code) => this.#dismissed(this.#lost(`the service closes it, http2=${code}`)));
    // The error of a name with several addresses has no message.
    this.#http2.on('error', (error: NodeJS.ErrnoException) =>
      this.#fail(this.#lost(error.message || `${error.code}`, error)),
    );
    this.#http2.on('close', () => this.#fail(this.#lost('it was closed')));
  }

  get state(): SessionState {
    // Node knows of an end before it tells: the streams hear of it first.
    const isGone = this.#http2.closed || this.#http2.destroyed;
    return this.#state === 'open' && isGone ? 'leaving' : this.#state;
  }

  /**
   * Why it failed before it had carried a call: then the next connection would hardly do better.
   */
  get failure(): StatusError | undefined {
    return this.#failure;
  }

  get hasRoom(): boolean {
    return this.state === 'open' && this.#calls.size < this.#streamsMax;
  }

  /**
   * Sends a call, for which there has to be room. `headers`: names and values in turn; as an
   * object, Node.js would copy them.
   */
  send(call: Call, headers: readonly string[], nowMs: number): void {
    if (this.#calls.size === 0) this.#heardMs = nowMs;
    const stream = this.#http2.request(headers, WITH_MESSAGE);
    this.#hasCarried = true;
    if (this.#calls.size === 0) this.#socket.ref();
    this.#calls.add(call);
    const heard = () => (this.#heardMs = performance.now());
    call.send(stream, nowMs, { heard, closed: () => this.#closed(call, stream.rstCode) });
  }

  /**
   * A call has ended at its deadline. If nothing else came since it was sent, there may be no path
   * any more.
   */
  missed(call: Call): void {
    if (!this.#calls.has(call)) return;
    if (this.#state === 'leaving' || this.#heardMs <= call.sentMs!) this.#leave();
  }

  /** Leaves if it was idle for long. */
  refresh(nowMs: number): void {
    if (this.#calls.size === 0 && nowMs - this.#heardMs >= IDLE_MS) this.#leave();
  }

  /** Ends it, and its calls with this error. Idempotent. */
  destroy(error: StatusError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    for (const call of this.#calls) call.end(error);
    this.#socket.destroy();
    this.#changed(this);
  }

  /** Does what is due, and tells when to ask again, by `performance.now()`. */
  check(nowMs: number): number {
    if (this.#state === 'opening')
      return this.#expire(nowMs, this.#openedMs + CONNECT_TIMEOUT_MS, 'it did not open in time');
    if (this.#calls.size === 0 || this.#http2.destroyed) return Infinity;
    if (this.#pingMs >= this.#heardMs) return this.#checkPing(nowMs);
    const dueMs = Math.max(this.#heardMs + SILENCE_MS, this.#pingMs + PING_INTERVAL_MS);
    return nowMs < dueMs ? dueMs : this.#ping(nowMs);
  }

  /**
   * The answer may wait behind a large request that is still being sent: then something else comes,
   * if only room for more of it.
   */
  #checkPing(nowMs: number): number {
    if (this.#socket.bytesRead === this.#pingBytesRead)
      return this.#expire(nowMs, this.#pingMs + PING_TIMEOUT_MS, 'it did not answer a ping');
    this.#heardMs = nowMs;
    return this.check(nowMs);
  }

  #expire(nowMs: number, dueMs: number, why: string): number {
    if (nowMs < dueMs) return dueMs;
    this.#fail(this.#lost(why));
    return Infinity;
  }

  #ping(nowMs: number): number {
    this.#pingMs = nowMs;
    this.#pingBytesRead = this.#socket.bytesRead;
    this.#http2.ping((error) => {
      if (error === null) this.#heardMs = performance.now();
    });
    return nowMs + PING_TIMEOUT_MS;
  }

  #connected(): void {
    this.#http2.setLocalWindowSize(SESSION_WINDOW_BYTES);
    const speaksHttp2 = !(this.#socket instanceof TLSSocket) || this.#socket.alpnProtocol === 'h2';
    if (!speaksHttp2) this.#fail(this.#lost('the service does not speak HTTP/2'));
  }

  #settled(streamsMax = STREAMS_MAX): void {
    this.#streamsMax = Math.min(streamsMax, STREAMS_MAX);
    if (this.#state === 'opening') this.#state = 'open';
    this.#changed(this);
    this.#letGo();
  }

  #fail(error: StatusError): void {
    if (!this.#hasCarried) this.#failure ??= error;
    this.destroy(error);
  }

  /**
   * A GOAWAY without an error lets the calls go on; after one with an error Node ends the
   * connection.
   */
  #dismissed(error: StatusError): void {
    if (!this.#hasCarried) this.#failure ??= error;
    this.#leave();
  }

  /** Streams that were given up do not count: on a path that is dead they never close. */
  #leave(): void {
    if (this.#state === 'ended') return;
    this.#state = 'leaving';
    if ([...this.#calls].every(({ isEnded }) => isEnded)) this.destroy(this.#lost('it was left'));
    else this.#changed(this);
  }

  #closed(call: Call, http2Code: number): void {
    this.#calls.delete(call);
    // Streams that a GOAWAY does not count are refused before the GOAWAY itself is told of, and so
    // would be all others until then.
    if (this.#state === 'leaving' || http2Code === constants.NGHTTP2_REFUSED_STREAM) return this.#leave();
    if (this.#calls.size === 0) this.#heardMs = performance.now();
    this.#changed(this);
    this.#letGo();
  }

  #lost(why: string, cause?: unknown): StatusError {
    return new StatusError(CODE.UNAVAILABLE, `the connection to ${this.#origin} is lost: ${why}`, { cause });
  }

  /** A connection without calls keeps no process alive. */
  #letGo(): void {
    if (this.#calls.size === 0) this.#socket.unref();
  }
}

function socketTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) });
  const servername = isIP(host) === 0 ? host : '';
  return connectTls({ host, port: Number(port || 443), servername, ALPNProtocols: ['h2'] });
}
