// A table computed when read: a thousand million records need no memory. Keys are in byte order.
import { recordSource } from '../../work/records.ts';
import { type PageRules, pageBytesFor, sealPage } from '../../../store/container/seal-page.ts';
import { containerBytesMaxOf } from '../../../store/container/size.ts';
import { nodeBudget } from '../../../store/container/split.ts';
import type { DriverLimits } from '../../../store/contract/driver.ts';
import { EMPTY_BYTES, type Id64, ROOT_CONTAINER } from '../../../store/format/bytes.ts';
import type { Header } from '../../../store/format/header.ts';
import { type Page, pageFrom } from '../../../store/format/page.ts';
import type { Position } from '../../../store/format/position.ts';
import { recordBytes, type StoredRecord } from '../../../store/format/record.ts';
import { encodeValue } from '../../../store/table/values.ts';

export interface MadeUpTable {
  readonly table: string;
  readonly records: number;
  /** Bytes of text in a record's five fields, as in the comparison's records. */
  readonly recordBytes: number;
  readonly limits: DriverLimits;
  readonly containerBytesMax?: number;
}

const KEY_DIGITS = 10;
const RECORDS_END = 10_000_000_000;

/** The key of record `index`: keys stand in the order of their indexes. */
export function madeUpKey(index: number): string {
  return `customer:${String(index).padStart(KEY_DIGITS, '0')}`;
}

export const MADE_UP_INCARNATION = '6d616465202d7570' as Id64;

/** A node's place: level 0 has the leaves, index 0 is the leftmost of a level. */
export interface NodePlace {
  readonly level: number;
  readonly index: number;
}

/** The tree as a bulk load leaves it: how many nodes each level has, and what each holds. */
export class MadeUpTree {
  readonly table: MadeUpTable;
  readonly rules: PageRules;
  /** Nodes of each level, the leaves first; the last is 1, the root. */
  readonly counts: readonly number[];
  readonly #values: readonly Uint8Array[];
  readonly #recordsPerPage: number;
  readonly #entriesPerPage: number;
  readonly #recordsPerLeaf: number;
  readonly #childrenPerBranch: number;

  /** Makes up pages to see sizes. Throws a RangeError for an impossible count or size. */
  constructor(table: MadeUpTable) {
    if (!(Number.isInteger(table.records) && table.records >= 1 && table.records < RECORDS_END))
      throw new RangeError(`a made-up table has 1 to ${RECORDS_END - 1} records: records=${table.records}`);
    this.table = table;
    const limits = { ...table.limits, entityBytesMax: containerBytesMaxOf(table.containerBytesMax, table.limits) };
    const pageBytes = pageBytesFor(limits);
    this.rules = { table: table.table, limits, compression: 'zstd', pageBytes };
    this.#values = encodedValues(table);
    this.#recordsPerPage = perPage(pageBytes, (at) => this.#record(at, 1));
    this.#entriesPerPage = perPage(pageBytes, (at) => entryOf(separatorBefore(at), { level: 0, index: at }, 1));
    this.#recordsPerLeaf = this.#perNode(this.#recordsPerPage, (at) => this.#record(at, at + 1));
    this.#childrenPerBranch = this.#perNode(this.#entriesPerPage, (at) =>
      entryOf(separatorBefore(at * this.#recordsPerLeaf), { level: 0, index: at }, at + 1),
    );
    this.counts = this.#countLevels();
  }

  get rootLevel(): number {
    return this.counts.length - 1;
  }

  /** The place of a node; undefined if there is none of this id. */
  placeOf(container: Id64): NodePlace | undefined {
    if (container === ROOT_CONTAINER) return { level: this.rootLevel, index: 0 };
    const plain = multiplied(container, GATHER);
    if (!plain.startsWith(hex(NODE_MARK, 2))) return undefined;
    const level = Number.parseInt(plain.slice(2, 4), 16);
    const index = Number.parseInt(plain.slice(4), 16);
    const isThere = level < this.rootLevel && index < this.counts[level]!;
    return isThere ? { level, index } : undefined;
  }

  containerOf({ level, index }: NodePlace): Id64 {
    return level === this.rootLevel ? ROOT_CONTAINER : containerId({ level, index });
  }

  lowOf({ level, index }: NodePlace): Position {
    let leaf = index;
    for (let above = level; above > 0; above -= 1) leaf *= this.#childrenPerBranch;
    return separatorBefore(leaf * this.#recordsPerLeaf);
  }

  /** The pages' records, in order of their positions, with versions from 1 on. */
  pagesOf(place: NodePlace): Page[] {
    return place.level === 0 ? this.#leafPages(place.index) : this.#branchPages(place);
  }

  #leafPages(leaf: number): Page[] {
    const first = leaf * this.#recordsPerLeaf;
    const count = Math.min(this.#recordsPerLeaf, this.table.records - first);
    return paged(count, this.#recordsPerPage, (at) => this.#record(first + at, at + 1));
  }

  #branchPages({ level, index }: NodePlace): Page[] {
    const first = index * this.#childrenPerBranch;
    const count = Math.min(this.#childrenPerBranch, this.counts[level - 1]! - first);
    return paged(count, this.#entriesPerPage, (at) => {
      const child = { level: level - 1, index: first + at };
      return entryOf(this.lowOf(child), child, at + 1);
    });
  }

  #record(index: number, version: number): StoredRecord {
    const value = this.#values[index % VALUES]!;
    return { key: keyBytes(index), version, expiresAtMs: undefined, codec: 1, value };
  }

  /** Whole pages, and two at least, so that it can be split. */
  #perNode(recordsPerPage: number, record: (at: number) => StoredRecord): number {
    const header = { incarnation: MADE_UP_INCARNATION, container: ROOT_CONTAINER } as Header;
    const sample = Array.from({ length: SAMPLE_PAGES }, (_, page) => {
      const first = page * recordsPerPage;
      const records = Array.from({ length: recordsPerPage }, (__, at) => record(first + at));
      const row = { low: records[0]!.key, slot: page, number: first + 1 };
      return sealPage(pageFrom(records), header, row, this.rules);
    });
    const pageBytes = sample.reduce((sum, { sealedBytes }) => sum + sealedBytes, 0) / SAMPLE_PAGES;
    const { bytes } = nodeBudget(sample, this.rules.limits);
    return Math.max(2, Math.floor(bytes / pageBytes)) * recordsPerPage;
  }

  #countLevels(): number[] {
    const counts = [Math.ceil(this.table.records / this.#recordsPerLeaf)];
    while (counts.at(-1)! > 1) counts.push(Math.ceil(counts.at(-1)! / this.#childrenPerBranch));
    return counts;
  }
}

/** Pages that are tried to learn what pages take. */
const SAMPLE_PAGES = 8;
/** Node numbers begin with it; the level follows, and the index. */
const NODE_MARK = 0x6d;
/** 2^64 over the golden ratio (Knuth, TAOCP 6.4): ids in a row would share a range of keys. */
const SPREAD = 0x9e3779b97f4a7c15n;
/** Its inverse, which leads from an id back to the number. */
const GATHER = 0xf1de83e19937733dn;

/** Different values; they repeat, far beyond the reach of a page's compression. */
const VALUES = 4_096;

function encodedValues({ table, recordBytes: bytes }: MadeUpTable): Uint8Array[] {
  const source = recordSource(1, bytes);
  return Array.from({ length: VALUES }, (_, index) => {
    const { key, fields } = source(index, 0);
    return encodeValue('msgpack', fields, { table, key }).bytes;
  });
}

function containerId({ level, index }: NodePlace): Id64 {
  return multiplied([hex(NODE_MARK, 2), hex(level, 2), hex(index, 12)].join(''), SPREAD) as Id64;
}

/** A number of 16 hexadecimal digits times another, modulo 2^64. */
function multiplied(digits: string, factor: bigint): string {
  return BigInt.asUintN(64, BigInt(`0x${digits}`) * factor)
    .toString(16)
    .padStart(16, '0');
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function keyBytes(index: number): Uint8Array {
  return Buffer.from(madeUpKey(index), 'latin1');
}

/** The shortest between a record and the one before: zeros behind the last digit go. */
function separatorBefore(index: number): Position {
  return index === 0 ? EMPTY_BYTES : Buffer.from(madeUpKey(index).replace(/0+$/, ''), 'latin1');
}

function entryOf(low: Position, child: NodePlace, version: number): StoredRecord {
  const value = Buffer.from(containerId(child), 'hex');
  return { key: low, version, expiresAtMs: undefined, codec: 0, value };
}

/** Records of a page, by the mean of some. */
function perPage(pageBytes: number, record: (at: number) => StoredRecord): number {
  const count = 64;
  let bytes = 0;
  for (let at = 0; at < count; at += 1) bytes += recordBytes(record(at * 1_001));
  return Math.max(1, Math.round(pageBytes / (bytes / count)));
}

function paged(count: number, size: number, record: (at: number) => StoredRecord): Page[] {
  const pages: Page[] = [];
  for (let first = 0; first < count; first += size) {
    const length = Math.min(size, count - first);
    pages.push(pageFrom(Array.from({ length }, (_, at) => record(first + at))));
  }
  return pages;
}
