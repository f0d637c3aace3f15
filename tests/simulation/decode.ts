// Decodes stored bytes by FORMAT.md. It shares no code with the store, as it checks that.
import { crc32, inflateRawSync, zstdDecompressSync } from 'node:zlib';

export const ROOT = '0000000000000000';

const STATES = ['live', 'removing', 'removed', 'retired', 'merged'] as const;

/** A row of the page table. */
export interface Row {
  readonly low: Buffer;
  readonly slot: number;
  readonly records: number;
  readonly bytes: number;
  readonly number: number;
  readonly crc: number;
  /** 0: none. */
  readonly compression: number;
  /** It says that no record of the page expires or is a tombstone. */
  readonly isAllLive: boolean;
  /** A byte of each record; undefined if the row has none. */
  readonly fingerprints: Buffer | undefined;
}

export interface Node {
  readonly order: 'hash' | 'key';
  /** The character that ends a key's group, if there are groups. */
  readonly groupBy: string | undefined;
  readonly state: 'live' | 'removing' | 'removed' | 'retired' | 'merged';
  readonly level: number;
  readonly incarnation: string;
  readonly container: string;
  readonly low: Buffer;
  /** Undefined: infinity. */
  readonly high: Buffer | undefined;
  readonly right: string | undefined;
  readonly nextNumber: number;
  readonly commitCount: number;
  /** Oldest first. */
  readonly commitIds: readonly string[];
  /** When a merged leaf was emptied. */
  readonly createdAtMs: number;
  readonly freezeMs: number;
  /** The parts of its last split. */
  readonly parts: readonly { readonly low: Buffer; readonly id: string }[];
  readonly origin: { readonly id: string; readonly version: string } | undefined;
  readonly deadSlots: readonly number[];
  /** Layer by layer, the base first. */
  readonly layers: readonly (readonly Row[])[];
  /** All of them, as stored. */
  readonly rows: readonly Row[];
}

export interface DecodedRecord {
  readonly key: Buffer;
  /** The key, a character for each byte. */
  readonly keyText: string;
  /** Key and version: what no other write shares. */
  readonly name: string;
  readonly version: number;
  readonly expiresAtMs: number | undefined;
  readonly value: Buffer;
  /** The key was removed: what lower layers hold of it does not count. */
  readonly isTombstone: boolean;
}

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(count: number): Buffer {
    if (count > this.left) throw new RangeError('the bytes end too early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  number(bytes: 1 | 2 | 4): number {
    if (bytes > this.left) throw new RangeError('the bytes end too early');
    let value = 0;
    for (let end = this.#at + bytes; this.#at < end; this.#at += 1) value = value * 256 + this.#bytes[this.#at]!;
    return value;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new RangeError('the bytes end too early');
      this.#at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  }

  id(): string {
    return this.take(8).toString('hex');
  }

  bytes(): Buffer {
    return this.take(this.varint());
  }

  optional<T>(read: () => T): T | undefined {
    return this.number(1) === 0 ? undefined : read();
  }

  many<T>(read: () => T): T[] {
    return Array.from({ length: this.varint() }, read);
  }
}

/** Decoded headers by their bytes. Stored bytes never change, so a decoding stays valid. */
const nodes = new WeakMap<Uint8Array, Node>();

export function decodeNode(stored: Uint8Array): Node {
  const known = nodes.get(stored);
  if (known !== undefined) return known;
  const node = nodeOf(viewOf(stored));
  nodes.set(stored, node);
  return node;
}

/** Reads the state without decoding the header. */
export function stateOf(stored: Uint8Array): Node['state'] | undefined {
  return STATES[stored[4] ?? STATES.length];
}

function nodeOf(bytes: Buffer): Node {
  const cursor = new Cursor(bytes);
  if (cursor.number(2) !== 0x5357 || cursor.number(1) !== 1) throw new RangeError('no header of version 1');
  if (crc32(bytes.subarray(0, -4)) !== bytes.readUInt32BE(bytes.length - 4)) throw new RangeError('bad header CRC');
  const orderByte = cursor.number(1);
  const groupBy = orderByte > 32 ? String.fromCharCode(orderByte) : undefined;
  const order = groupBy === undefined ? (['hash', 'key'] as const)[orderByte]! : 'key';
  const state = STATES[cursor.number(1)];
  if (state === undefined) throw new RangeError('no state that the format knows');
  const head = {
    order,
    groupBy,
    state,
    level: cursor.number(1),
    incarnation: cursor.id(),
    container: cursor.id(),
    low: cursor.bytes(),
    high: cursor.optional(() => cursor.bytes()),
    right: cursor.optional(() => cursor.id()),
    nextNumber: cursor.varint(),
    commitCount: cursor.varint(),
    commitIds: cursor.bytes().toString('hex').match(/.{16}/g) ?? [],
    createdAtMs: cursor.varint(),
    origin: cursor.optional(() => ({ id: cursor.bytes().toString(), version: cursor.bytes().toString() })),
    deadSlots: cursor.many(() => [cursor.varint(), cursor.varint()][0]!),
  };
  const rows = rowsOf(cursor, head.low);
  const layers = layersOf(
    rows,
    cursor.many(() => cursor.varint()),
  );
  const freezeMs = cursor.left > 4 ? cursor.varint() : 0;
  const parts = cursor.left > 4 ? cursor.many(() => ({ low: cursor.bytes(), id: cursor.id() })) : [];
  if (parts.length > 0) cursor.varint();
  if (cursor.left !== 4) throw new RangeError('bytes beyond the header');
  return { ...head, layers, rows, freezeMs, parts };
}

function rowsOf(cursor: Cursor, low: Buffer): Row[] {
  let before = low;
  return cursor.many(() => {
    const shared = cursor.varint();
    before = Buffer.concat([before.subarray(0, shared), cursor.bytes()]);
    const slot = cursor.varint();
    const records = cursor.varint();
    const bytes = cursor.varint();
    const number = cursor.varint();
    const crc = cursor.number(4);
    const form = cursor.number(1);
    cursor.varint();
    const fingerprints = (form & 0x40) === 0 ? undefined : cursor.take(records);
    const compression = form & 0x3f;
    return { low: before, slot, records, bytes, number, crc, compression, isAllLive: form >= 0x80, fingerprints };
  });
}

/** `counts` are the numbers of rows in the layers above the base, which has the rest. */
function layersOf(rows: readonly Row[], counts: readonly number[]): Row[][] {
  const inBase = rows.length - counts.reduce((sum, count) => sum + count, 0);
  if (inBase < 0) throw new RangeError('layers of more rows than there are');
  let end = 0;
  return [inBase, ...counts].map((count) => rows.slice(end, (end += count)));
}

/** The records of a page, which must be the one that `row` of `node` names. */
export function decodePage(stored: Uint8Array, node: Node, row: Row): DecodedRecord[] {
  const bytes = viewOf(stored);
  const crc = bytes.readUInt32BE(bytes.length - 4);
  if (crc32(bytes.subarray(0, -4)) !== crc || crc !== row.crc) throw new RangeError('bad page CRC');
  if (bytes.length !== row.bytes) throw new RangeError('a page of another length');
  const cursor = new Cursor(bytes);
  if (cursor.number(1) !== 1) throw new RangeError('no page of version 1');
  const compression = cursor.number(1);
  const place = [cursor.id(), cursor.id(), cursor.number(2), cursor.varint()].join();
  if (place !== [node.incarnation, node.container, row.slot, row.number].join())
    throw new RangeError('a page of another place or time');
  const rawBytes = cursor.number(4);
  const body = expanded(cursor.take(cursor.left - 4), compression, rawBytes);
  if (body.length !== rawBytes) throw new RangeError('a body of another length');
  const records = recordsOf(new Cursor(body));
  if (records.length !== row.records) throw new RangeError('another number of records');
  return records;
}

/** `rawBytes` is only how much memory to begin with. */
function expanded(body: Buffer, compression: number, rawBytes: number): Buffer {
  if (compression === 0) return body;
  const options = { chunkSize: Math.min(65_536, Math.max(64, rawBytes)) };
  return compression === 1 ? inflateRawSync(body, options) : zstdDecompressSync(body, options);
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function recordsOf(cursor: Cursor): DecodedRecord[] {
  const records: DecodedRecord[] = [];
  while (cursor.left > 0) {
    const key = cursor.bytes();
    const flags = cursor.number(1);
    const version = cursor.varint();
    const expiresAtMs = (flags & 8) === 0 ? undefined : cursor.varint();
    const keyText = key.toString('latin1');
    const name = `${version} ${keyText}`;
    records.push({ key, keyText, name, version, expiresAtMs, value: cursor.bytes(), isTombstone: flags % 8 === 7 });
  }
  return records;
}
