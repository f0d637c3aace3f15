// The provider's content by the checks' own decoder, kept while the bytes stay the same.
import type { MemoryState, StoredEntity } from '../../shared/drivers/memory/effects.ts';
import xxhash from 'xxhash-wasm';
import { type DecodedRecord, decodeNode, decodePage, type Node, ROOT, type Row } from './decode.ts';
import { entityId, partName } from '../support/ids.ts';

/** An entity as stored. */
export interface Held {
  readonly id: string;
  readonly stored: StoredEntity;
  readonly node: Node;
}

/** A page's records, and the row that named it. */
interface Decoded {
  readonly records: readonly DecodedRecord[];
  readonly container: string;
  readonly row: Row;
}

export class Provider {
  readonly state: MemoryState;
  readonly #held = new Map<string, Held>();
  readonly #pages = new WeakMap<Uint8Array, Decoded>();
  readonly #records = new WeakMap<Held, readonly DecodedRecord[]>();

  constructor(state: MemoryState) {
    this.state = state;
  }

  /** Undefined if there is none. Throws if it cannot be decoded. */
  entity(id: string): Held | undefined {
    const stored = this.state.entities.get(entityId(id));
    if (stored === undefined) return undefined;
    const known = this.#held.get(id);
    if (known?.stored === stored) return known;
    const held = { id, stored, node: decodeNode(stored.parts.get(partName('h')) ?? new Uint8Array()) };
    this.#held.set(id, held);
    return held;
  }

  page({ stored, node, id }: Held, row: Row): readonly DecodedRecord[] {
    const bytes = stored.parts.get(partName(`p${row.slot}`));
    if (bytes === undefined) throw new RangeError(`page ${row.slot} of ${id} is missing`);
    const known = this.#pages.get(bytes);
    if (known !== undefined && known.container === node.container && isSameRow(known.row, row)) return known.records;
    const records = decodePage(bytes, node, row);
    this.#pages.set(bytes, { records, container: node.container, row });
    return records;
  }

  /** The records that count, by position: each key's of the highest layer, without tombstones. */
  records(held: Held): readonly DecodedRecord[] {
    const known = this.#records.get(held);
    if (known !== undefined) return known;
    const records = this.#recordsOf(held);
    this.#records.set(held, records);
    return records;
  }

  #recordsOf(held: Held): DecodedRecord[] {
    const { layers, order, level } = held.node;
    const newest = new Map<string, DecodedRecord>();
    for (const record of this.allRecords(held)) newest.set(record.keyText, record);
    const records = [...newest.values()].filter(({ isTombstone }) => !isTombstone);
    if (layers.length === 1) return records;
    const placed = records.map((record) => ({ record, at: positionOf(order, level, record.key) }));
    return placed.sort((a, b) => a.at.compare(b.at)).map(({ record }) => record);
  }

  /** The records of all layers, the base first. */
  allRecords(held: Held): DecodedRecord[] {
    return held.node.rows.flatMap((row) => this.page(held, row));
  }

  root(table: string): Held | undefined {
    return this.entity(entityId(`t!${table}!`));
  }

  /** Ids of all nodes but the root, of any incarnation. */
  nodeIds(table: string): string[] {
    return [...this.state.entities.keys()].filter((id) => id.startsWith(`n!${table}!`));
  }
}

function isSameRow(a: Row, b: Row): boolean {
  return (
    a.slot === b.slot && a.number === b.number && a.crc === b.crc && a.bytes === b.bytes && a.records === b.records
  );
}

const hasher = await xxhash();

export function positionOf(order: 'hash' | 'key', level: number, key: Buffer): Buffer {
  if (order === 'key' || level > 0) return key;
  const hash = Buffer.alloc(8);
  hash.writeBigUInt64BE(hasher.h64Raw(key));
  return Buffer.concat([hash, key]);
}

export function tableOf(id: string): string {
  return id.split('!')[1] ?? '';
}

export function idOf(table: string, incarnation: string, container: string): string {
  return container === ROOT ? `t!${table}!` : `n!${table}!${incarnation}!${container}`;
}
