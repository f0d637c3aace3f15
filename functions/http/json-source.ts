// Where the parts of a JSON text lie, in bytes. It takes only what JSON.parse has let pass, and judges nothing. It neither recurses nor
// builds a tree, as libraries that tell offsets do: 16 MiB of small values would become a gigabyte of nodes.

const QUOTE = 0x22;
export const OPEN_ARRAY = 0x5b;
export const OPEN_OBJECT = 0x7b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

/** The parts between the brackets of an array, as they were written; of an object, its names and values in turn. */
export function* partsOf(bytes: Uint8Array): Generator<Uint8Array> {
  let at = startOfValue(bytes, 1);
  while (bytes[at] !== CLOSE_ARRAY && bytes[at] !== CLOSE_OBJECT) {
    const end = endOfValue(bytes, at);
    yield bytes.subarray(at, end);
    at = startOfValue(bytes, end);
  }
}

/** The value without the white space around it. */
export function trimmed(bytes: Uint8Array): Uint8Array {
  const start = startOfValue(bytes, 0);
  return bytes.subarray(start, endOfValue(bytes, start));
}

/** The most arrays and objects one within another. */
export function depthOf(bytes: Uint8Array): number {
  let [level, most] = [0, 0];
  for (let at = 0; at < bytes.length; at = endOfToken(bytes, at)) {
    level += levelsFrom(bytes[at]!);
    if (level > most) most = level;
  }
  return most;
}

/** Behind white space and separators. */
function startOfValue(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at]! <= SPACE || bytes[at] === COMMA || bytes[at] === COLON) at += 1;
  return at;
}

function endOfValue(bytes: Uint8Array, start: number): number {
  let level = levelsFrom(bytes[start]!);
  let at = endOfToken(bytes, start);
  if (level === 0 && bytes[start] !== QUOTE) while (at < bytes.length && !isDelimiter(bytes[at]!)) at += 1;
  for (; level > 0; at = endOfToken(bytes, at)) level += levelsFrom(bytes[at]!);
  return at;
}

/** Behind a string, or any other byte. */
function endOfToken(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  if (bytes[start] !== QUOTE) return at;
  while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function levelsFrom(byte: number): number {
  if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) return 1;
  return byte === CLOSE_ARRAY || byte === CLOSE_OBJECT ? -1 : 0;
}

/** What may follow a number, `true`, `false` or `null`. */
function isDelimiter(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
}
