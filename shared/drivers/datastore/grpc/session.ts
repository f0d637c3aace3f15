// One HTTP/2 connection with its calls, from its opening to its end.
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { socketHost } from '../../common/factory.ts';
import { type Call, type StreamListener, CODE, StatusError } from './call.ts';

/** Streams at a time, unless the service allows fewer. */
const STREAMS_MAX = 100;

/** From the first packet to the service's settings. */
const CONNECT_TIMEOUT_MS = 10_000;

/** After so long without a byte, a ping tries whether the connection is alive. */
const PING_AFTER_MS = 2_000;
const PING_TIMEOUT_MS = 3_000;
/** Google takes a ping per 30 s, not per 10 s (github.com/googleapis/java-bigtable/pull/528). */
const PING_INTERVAL_MS = 30_000;

/** An idle connection is closed then, as load balancers and NATs drop idle ones silently. */
const IDLE_MS = 4 * 60_000;

/** Large enough for a container, which else would take a round trip per 64 KiB. */
const STREAM_WINDOW_BYTES = 2 * 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Else Node refuses replies while 10 MB wait to be sent. Above 4,294 its 32 bits overflow. */
const MEMORY_MB_MAX = 4_000;

const WITH_MESSAGE = { endStream: false };

/** A `leaving` session takes no more calls, but lets those under way end. */
export type SessionState = 'opening' | 'open' | 'leaving' | 'ended';

/** Plain HTTP/2 to an `http:` address, else TLS. */
export class Session implements StreamListener {
  replyBytes = 0;
  /** Why it failed before its first call: the next connection would probably fail too. */
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
  /** When the last byte came, or the first of the calls under way began. */
  #heardMs: number;
  #pingMs = -Infinity;
  #pingBytesRead = 0;

  /** Calls `changed` after a new state or when a stream became free; never in the constructor. */
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
    // If a name has several addresses, the error has no message.
    this.#http2.on('error', (error: NodeJS.ErrnoException) =>
      this.#fail(this.#lost(error.message || `${error.code}`, error)),
    );
    this.#http2.on('close', () => this.#fail(this.#lost('it was closed')));
  }

  get state(): SessionState {
    // Node tells the streams of an end before it tells this session.
    const isGone = this.#http2.closed || this.#http2.destroyed;
    return this.#state === 'open' && isGone ? 'leaving' : this.#state;
  }

  get hasRoom(): boolean {
    return this.state === 'open' && this.#calls.size < this.#streamsMax;
  }

  /** Needs room. `headers` has names and values in turn, as Node.js would copy an object. */
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
    // Streams that a GOAWAY excludes are refused before Node tells of the GOAWAY.
    if (this.#state === 'leaving' || http2Code === constants.NGHTTP2_REFUSED_STREAM) return this.#leave();
    if (this.#calls.size === 0) this.#heardMs = performance.now();
    this.#changed(this);
    this.#letGo();
  }

  /** A call missed its deadline. If no byte came since it was sent, the connection may be dead. */
  missed(call: Call): void {
    if (!this.#calls.has(call)) return;
    if (this.#state === 'leaving' || this.#heardMs <= call.sentMs!) this.#leave();
  }

  /** Leaves if it has been idle for too long. */
  refresh(nowMs: number): void {
    if (this.#calls.size === 0 && nowMs - this.#heardMs >= IDLE_MS) this.#leave();
  }

  /** Ends it and its calls, with this error. Idempotent. */
  destroy(error: StatusError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    for (const call of this.#calls) call.end(error);
    this.#socket.destroy();
    this.#changed(this);
  }

  /** Checks whether it is alive. Tells when to check again, by `performance.now()`. */
  check(nowMs: number): number {
    if (this.#state === 'opening')
      return this.#expire(nowMs, this.#openedMs + CONNECT_TIMEOUT_MS, 'it did not open in time');
    if (this.#calls.size === 0 || this.#http2.destroyed) return Infinity;
    if (this.#pingMs >= this.#heardMs) return this.#checkPing(nowMs);
    const dueMs = Math.max(this.#heardMs + PING_AFTER_MS, this.#pingMs + PING_INTERVAL_MS);
    return nowMs < dueMs ? dueMs : this.#ping(nowMs);
  }

  /** Any byte proves that it is alive, as the ping may wait behind a large request. */
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

  /** After a GOAWAY. Calls go on unless it has an error, after which Node ends all. */
  #dismissed(error: StatusError): void {
    if (!this.#hasCarried) this.failure ??= error;
    this.#leave();
  }

  /** Ignores streams that were given up, because on a dead connection they never close. */
  #leave(): void {
    if (this.#state === 'ended') return;
    this.#state = 'leaving';
    if ([...this.#calls].every(({ isEnded }) => isEnded)) this.destroy(this.#lost('it was left'));
    else this.#changed(this);
  }

  #lost(why: string, cause?: unknown): StatusError {
    return new StatusError(CODE.UNAVAILABLE, `the connection to ${this.#origin} is lost: ${why}`, { cause });
  }

  /** A connection without calls must not keep the process alive. */
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
