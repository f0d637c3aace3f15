// Reads JSON (RFC 8259, in UTF-8) byte by byte.
import { isUtf8 } from 'node:buffer';
import { VALUE_DEPTH_MAX } from '../../shared/store/index.ts';
import { Problem } from './problem.ts';
import { tooDeep, ValueCount, type ValueKind, type ValueReader } from './body-reader.ts';

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LETTER_E = 0x65;
const LETTER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** A record in base64 takes 700 KB. Decoding 16 MiB of escapes takes half as long as reading. */
const SCALAR_BYTES_MAX = 4 * 1024 * 1024;
/** The bit that makes a letter a small one. */
const SMALL = 0x20;

const KINDS = new Map<number | undefined, ValueKind>([
  [OPEN_OBJECT, 'map'],
  [OPEN_ARRAY, 'array'],
  [QUOTE, 'string'],
]);
/** Literals by their first bytes. */
const LITERALS = new Map(['true', 'false', 'null'].map((text) => [text.charCodeAt(0), Buffer.from(text)]));
const BLANK = tableOf((char) => ' \t\n\r'.includes(char));
const ESCAPED = tableOf((char) => '"\\/bfnrt'.includes(char));
const DIGIT = tableOf((char) => char >= '0' && char <= '9');
const HEX_DIGIT = tableOf((char) => /[\da-f]/i.test(char));
/** Characters that need no escape within a string, with all bytes beyond ASCII. */
const PLAIN = tableOf((char) => char >= ' ' && char !== '"' && char !== '\\');

/** Between calls it is at the next value, behind blanks. */
export class JsonReader implements ValueReader {
  readonly #bytes: Buffer;
  readonly #values = new ValueCount();
  #at = 0;
  /** The end of the last token, before the blanks that follow it. */
  #end = 0;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
    if (!isUtf8(this.#bytes)) throw new Problem('malformed', 'not JSON: it is not UTF-8');
    this.#blanks();
  }

  get kind(): ValueKind {
    return KINDS.get(this.#bytes[this.#at]) ?? 'scalar';
  }

  items(read: () => void): void {
    this.#values.add();
    this.#within(OPEN_ARRAY, CLOSE_ARRAY, read);
  }

  members(read: (name: string) => void): void {
    this.#values.add();
    this.#within(OPEN_OBJECT, CLOSE_OBJECT, () => read(this.#name()));
  }

  scalar(): unknown {
    const source = this.value();
    if (source.length > SCALAR_BYTES_MAX)
      throw new Problem('too_large', `a text exceeds ${SCALAR_BYTES_MAX} bytes: send less`);
    return JSON.parse(source.toString());
  }

  /** The source of a string, or of a number and the like: the bytes of `value`. */
  value(): Buffer {
    const start = this.#at;
    this.#skip(0);
    return this.#bytes.subarray(start, this.#end);
  }

  end(): void {
    if (this.#at < this.#bytes.length) throw this.#malformed();
  }

  #skip(level: number): void {
    this.#values.add();
    const byte = this.#bytes[this.#at];
    if (byte === QUOTE) return this.#string();
    if (byte !== OPEN_ARRAY && byte !== OPEN_OBJECT) return this.#scalar(byte);
    if (level === VALUE_DEPTH_MAX) throw tooDeep();
    const close = byte === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT;
    this.#take(byte);
    if (this.#takes(close)) return;
    do {
      if (byte === OPEN_OBJECT) this.#skipName();
      this.#skip(level + 1);
    } while (this.#takes(COMMA));
    this.#take(close);
  }

  #within(open: number, close: number, read: () => void): void {
    this.#take(open);
    if (this.#takes(close)) return;
    do read();
    while (this.#takes(COMMA));
    this.#take(close);
  }

  #name(): string {
    const start = this.#at;
    const end = this.#skipName();
    const text = this.#bytes.toString('utf8', start + 1, end - 1);
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
  }

  /** Reads a name and its colon. Gives the end of the name. */
  #skipName(): number {
    this.#string();
    const end = this.#end;
    this.#take(COLON);
    return end;
  }

  #string(): void {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== QUOTE) throw this.#malformed();
    let at = this.#at + 1;
    for (;;) {
      at = behindAll(PLAIN, bytes, at);
      if (bytes[at] === QUOTE) break;
      at += this.#escapeSize(at);
    }
    this.#behind(at + 1);
  }

  #escapeSize(at: number): number {
    const bytes = this.#bytes;
    const escaped = bytes[at] === BACKSLASH ? bytes[at + 1]! : 0;
    if (ESCAPED[escaped] === 1) return 2;
    if (escaped !== LETTER_U || behindAll(HEX_DIGIT, bytes, at + 2) < at + 6) throw this.#malformed(at);
    return 6;
  }

  #scalar(first: number | undefined): void {
    const literal = LITERALS.get(first!);
    if (literal === undefined) return this.#number();
    for (const [index, byte] of literal.entries()) if (this.#bytes[this.#at + index] !== byte) throw this.#malformed();
    this.#behind(this.#at + literal.length);
  }

  #number(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    if (bytes[at] === MINUS) at += 1;
    at = bytes[at] === ZERO ? at + 1 : this.#digits(at);
    if (bytes[at] === POINT) at = this.#digits(at + 1);
    if ((bytes[at]! | SMALL) === LETTER_E) {
      at += 1;
      at = this.#digits(bytes[at] === PLUS || bytes[at] === MINUS ? at + 1 : at);
    }
    this.#behind(at);
  }

  /** The end of one digit or more. */
  #digits(start: number): number {
    const at = behindAll(DIGIT, this.#bytes, start);
    if (at === start) throw this.#malformed(at);
    return at;
  }

  #take(byte: number): void {
    if (!this.#takes(byte)) throw this.#malformed();
  }

  #takes(byte: number): boolean {
    if (this.#bytes[this.#at] !== byte) return false;
    this.#behind(this.#at + 1);
    return true;
  }

  #behind(end: number): void {
    this.#end = end;
    this.#at = end;
    this.#blanks();
  }

  #blanks(): void {
    this.#at = behindAll(BLANK, this.#bytes, this.#at);
  }

  /** Never quotes the text, which may be secret. */
  #malformed(at = this.#at): Problem {
    return new Problem('malformed', `not JSON at byte ${at}: send one value in UTF-8`);
  }
}

/** The end of the run of the table's bytes that begins at `start`. */
function behindAll(table: Uint8Array, bytes: Buffer, start: number): number {
  let at = start;
  // Stops at the last byte: reading behind it makes the engine slower for all later reads.
  while (at < bytes.length && table[bytes[at]!] === 1) at += 1;
  return at;
}

/** A 1 for each byte of the kind, 0 for others. */
function tableOf(is: (char: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (is(String.fromCharCode(byte)) ? 1 : 0));
}
