// One unary call: what is sent, and whoever waits for the reply.
import { type ClientHttp2Stream, constants } from 'node:http2';
import { Reply, type Verdict } from './reply.ts';

export interface Request {
  /** `/package.Service/Method` */
  readonly path: string;
  /** In its gRPC frame. */
  readonly message: Buffer;
  readonly timeoutMs: number;
  /** Silence after which it ends, too. Default: silence is no reason. */
  readonly silenceMs?: number;
  /** Called at the stream's end if all was written: nobody looks at its memory any more. */
  readonly written?: () => void;
}

/** The connection of a stream. */
export interface StreamListener {
  /** Bytes of the replies that came on it, of all its streams. */
  readonly replyBytes: number;
  heard(bytes: number): void;
  closed(call: Call, http2Code: number): void;
}

/** A connection that brings so much for others is slow: their replies are in the way. */
const SLOW_BYTES_LEAST = 32 * 1024;

const END_STREAM = constants.NGHTTP2_FLAG_END_STREAM;

/** Ends once, by a reply, an error or its deadline. It is sent on one stream, never again. */
export class Call {
  readonly request: Request;
  /** By `performance.now()`, as all times here. */
  readonly begunMs: number;
  /** When it was sent; undefined as long as it waits. */
  sentMs: number | undefined;
  #stream: ClientHttp2Stream | undefined;
  #isAnswered = false;
  /** When something of its reply came last, or it began. */
  #heardMs: number;
  #connection: StreamListener | undefined;
  /** Bytes that its connection had brought by then. */
  #heardBytes = 0;
  #settle: ((result: Buffer | Error) => void) | undefined;

  constructor(request: Request, nowMs: number, settle: (result: Buffer | Error) => void) {
    this.request = request;
    this.begunMs = nowMs;
    this.#heardMs = nowMs;
    this.#settle = settle;
  }

  /** Its end, whatever comes. */
  get untilMs(): number {
    return this.begunMs + this.request.timeoutMs;
  }

  /** Its end, if nothing comes. */
  get dueMs(): number {
    return Math.min(this.untilMs, this.#heardMs + (this.request.silenceMs ?? Infinity));
  }

  /** Whether it is due. It has more time if much came for others on its connection meanwhile. */
  isDue(nowMs: number): boolean {
    const bytes = this.#connection?.replyBytes ?? 0;
    if (this.dueMs <= nowMs && bytes - this.#heardBytes >= SLOW_BYTES_LEAST) {
      this.#heardMs = nowMs;
      this.#heardBytes = bytes;
    }
    return this.dueMs <= nowMs;
  }

  get isEnded(): boolean {
    return this.#settle === undefined;
  }

  /** `connection` is told of everything that comes, and of the stream's end. */
  send(stream: ClientHttp2Stream, nowMs: number, connection: StreamListener): void {
    this.sentMs = nowMs;
    this.#connection = connection;
    this.#heardBytes = connection.replyBytes;
    this.#stream = stream;
    const reply = new Reply();
    let cause: unknown;
    const take = (verdict: Verdict, bytes = 0) => {
      this.#heardMs = performance.now();
      connection.heard(bytes);
      this.#heardBytes = connection.replyBytes;
      if (verdict !== undefined) this.end(verdict);
    };
    stream.on('response', (headers, flags) => {
      this.#isAnswered = (flags & END_STREAM) !== 0;
      take(reply.headers(headers, this.#isAnswered));
    });
    stream.on('data', (piece: Buffer) => take(reply.data(piece), piece.byteLength));
    stream.on('trailers', (trailers) => {
      this.#isAnswered = true;
      take(reply.trailers(trailers));
    });
    stream.on('error', (error) => (cause = error));
    stream.on('close', () => {
      if (!this.isEnded) this.end(reply.end(stream.rstCode, cause));
      if (stream.writableFinished) this.request.written?.();
      connection.closed(this, stream.rstCode);
    });
    // In the same turn as the headers, so that both leave in one write.
    stream.end(this.request.message);
  }

  /** Nothing happens if it has ended. A stream that goes on is given up. */
  end(result: Buffer | Error): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    const stream = this.#stream;
    const goesOn = stream !== undefined && !(this.#isAnswered && stream.writableFinished);
    if (goesOn) stream.close(constants.NGHTTP2_CANCEL);
    settle(result);
  }
}
