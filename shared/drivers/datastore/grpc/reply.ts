// Collects a reply as it arrives (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
import { CODE, statusIn, statusOfHttp, statusOfReset, StatusError } from './grpc-status.ts';

/** Nothing bounds a lookup's reply; a request has at most 10 MiB. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const PREFIX_BYTES = 5;
/** Names and values. Node.js bounds them only after the service has agreed to its settings. */
const HEADERS_BYTES_MAX = 16 * 1024;

type Headers = Readonly<Record<string, unknown>>;

/** The result of the call; undefined as long as it goes on. */
export type Verdict = Buffer | StatusError | undefined;

export class Reply {
  #httpStatus = 0;
  #prefixBytes = 0;
  #isCompressed = false;
  #sizeBytes = 0;
  /** Has copies of the pieces, of which even the smallest would keep a whole read buffer alive. */
  #message: Buffer | undefined;
  #filledBytes = 0;
  #isOk = false;

  /** `isEnd`: the headers are the whole reply, with the content of trailers. */
  headers(headers: Headers, isEnd: boolean): Verdict {
    this.#httpStatus = Number(headers[':status']);
    if (isEnd) return this.trailers(headers);
    if (bytesOf(headers) > HEADERS_BYTES_MAX) return broken('its headers are too large');
    const isGrpc = String(headers['content-type']).startsWith('application/grpc');
    return this.#httpStatus === 200 && isGrpc ? undefined : statusOfHttp(this.#httpStatus);
  }

  data(piece: Buffer): Verdict {
    let at = 0;
    for (; this.#prefixBytes < PREFIX_BYTES && at < piece.length; at += 1) this.#prefix(piece[at]!);
    if (this.#prefixBytes < PREFIX_BYTES) return undefined;
    if (this.#isCompressed) return broken('it is compressed, which was not asked for');
    if (this.#sizeBytes > MESSAGE_BYTES_MAX) return broken(`it is too large: bytes=${this.#sizeBytes}`);
    this.#message ??= Buffer.allocUnsafe(this.#sizeBytes);
    if (piece.length - at > this.#sizeBytes - this.#filledBytes) return broken('it is longer than it says');
    this.#filledBytes += piece.copy(this.#message, this.#filledBytes, at);
    return this.#isOk ? this.#whole() : undefined;
  }

  trailers(headers: Headers): Verdict {
    if (bytesOf(headers) > HEADERS_BYTES_MAX) return broken('its trailers are too large');
    const error = statusIn(headers, this.#httpStatus);
    if (error !== undefined) return error;
    this.#isOk = true;
    return this.#whole();
  }

  /** The stream has closed, and no more will come. */
  end(http2Code: number, cause: unknown): StatusError {
    return this.#isOk ? broken('its message is not whole') : statusOfReset(http2Code, cause);
  }

  #prefix(byte: number): void {
    if (this.#prefixBytes === 0) this.#isCompressed = byte !== 0;
    else this.#sizeBytes = this.#sizeBytes * 0x100 + byte;
    this.#prefixBytes += 1;
  }

  #whole(): Buffer | undefined {
    return this.#message !== undefined && this.#filledBytes === this.#sizeBytes ? this.#message : undefined;
  }
}

function bytesOf(headers: Headers): number {
  let bytes = 0;
  for (const name in headers) bytes += name.length + String(headers[name]).length;
  return bytes;
}

function broken(why: string): StatusError {
  return new StatusError(CODE.INTERNAL, `a reply that gRPC does not allow: ${why}`);
}
