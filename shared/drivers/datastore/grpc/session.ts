// One HTTP/2 connection, from its opening to its end, and the calls on it.
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { socketHost } from '../../common/factory.ts';
import type { Call, StreamListener } from './call.ts';
import { CODE, StatusError } from './grpc-status.ts';

/** Streams at a time, unless the service allows fewer. */
const STREAMS_MAX = 100;

/** From the first packet to the service's settings. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Without a byte for this long a ping looks for a path. */
const PING_AFTER_MS = 2_000;
const PING_TIMEOUT_MS = 3_000;
/** Google bore a ping per 30 s, not per 10 s (github.com/googleapis/java-bigtable/pull/528). */
const PING_INTERVAL_MS = 30_000;

/** Balancers and address translators forget idle connections without a word. */
const IDLE_MS = 4 * 60_000;

/** A container comes in one window, not in a round trip for each 64 KiB. */
const STREAM_WINDOW_BYTES = 2 * 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Node refuses replies while 10 MB wait to be sent. Above 4,294 its 32-bit product wraps. */
const MEMORY_MB_MAX = 4_000;

const WITH_MESSAGE = { endStream: false };

/** `leaving` lets calls under way go on and takes no others; `ended` holds nothing. */
export type SessionState = 'opening' | 'open' | 'leaving' | 'ended';

/** Plain HTTP/2 to an `http:` address, else TLS. */
export class Session implements StreamListener {
  replyBytes = 0;
  /** Why it failed before it carried a call: the next connection would hardly do better. */
  failure: StatusError | undefined;
  readonly #changed: (session: Session) => void;
  readonly #origin: string;
  readonly #socket: Socket;
  readonly #http2: ClientHttp2Session;
  readonly #openedMs: number;
  readonly #calls = new Set<Call>();
  #state: SessionState = 'opening';
  #streamsMax = 0;
  #hasCarried = false;
  /** When something came last, or the first of the calls under way began. */
  #heardMs: number;
  #pingMs = -Infinity;
  #pingBytesRead = 0;

  /** `changed`: another state, or a stream came free. Never called within the constructor. */
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

  get hasRoom(): boolean {
    return this.state === 'open' && this.#calls.size < this.#streamsMax;
  }

  /** There has to be room. `headers`: names and values in turn; Node.js copies an object. */
  send(call: Call, headers: readonly string[], nowMs: number): void {
    if (this.#calls.size === 0) this.#heardMs = nowMs;
    const stream = this.#http2.request(headers, WITH_MESSAGE);
    this.#hasCarried = true;
    if (this.#calls.size === 0) this.#socket.ref();
    this.#calls.add(call);
    call.send(stream, nowMs, this);
  }

  heard(bytes: number): void {
    this.#heardMs = performance.now();
    this.replyBytes += bytes;
  }

  closed(call: Call, http2Code: number): void {
    this.#calls.delete(call);
    // Streams that a GOAWAY does not count are refused before it is told of.
    if (this.#state === 'leaving' || http2Code === constants.NGHTTP2_REFUSED_STREAM) return this.#leave();
    if (this.#calls.size === 0) this.#heardMs = performance.now();
    this.#changed(this);
    this.#letGo();
  }

  /** After a deadline. If nothing else came since the call was sent, there may be no path. */
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
    const dueMs = Math.max(this.#heardMs + PING_AFTER_MS, this.#pingMs + PING_INTERVAL_MS);
    return nowMs < dueMs ? dueMs : this.#ping(nowMs);
  }

  /** An answer may wait behind a large request being sent: then something else comes. */
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
    if (!this.#hasCarried) this.failure ??= error;
    this.destroy(error);
  }

  /** After a GOAWAY without an error calls go on; after one with an error Node ends all. */
  #dismissed(error: StatusError): void {
    if (!this.#hasCarried) this.failure ??= error;
    this.#leave();
  }

  /** Streams that were given up do not count: on a path that is dead they never close. */
  #leave(): void {
    if (this.#state === 'ended') return;
    this.#state = 'leaving';
    if ([...this.#calls].every(({ isEnded }) => isEnded)) this.destroy(this.#lost('it was left'));
    else this.#changed(this);
  }

  #lost(why: string, cause?: unknown): StatusError {
    return new StatusError(CODE.UNAVAILABLE, `the connection to ${this.#origin} is lost: ${why}`, { cause });
  }

  /** A connection without calls keeps no process alive. */
  #letGo(): void {
    if (this.#calls.size === 0) this.#socket.unref();
  }
}

function socketTo(url: URL): Socket {
  const { protocol, port } = url;
  const host = socketHost(url);
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) });
  const servername = isIP(host) === 0 ? host : '';
  return connectTls({ host, port: Number(port || 443), servername, ALPNProtocols: ['h2'] });
}
