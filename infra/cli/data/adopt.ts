// Moves plain entities into a table and back, and compares the two. Neither way is a snapshot: what
// is changed meanwhile arrives as it was at some moment.
import * as z from 'zod';
import { decode, encode, type EncodedValue, type Store, type Table } from '../../../shared/store/index.ts';
import type { PlainPage, PlainPlace, PlainValue } from '../../plain/plain-place.ts';
import { batchesOf, encodedTable, putAll, putRanges, type RangesOptions } from './copy.ts';
import { Checksum, lineOf } from './record-line.ts';

/** Pages that are put at once, while another is read. More would take more memory. */
const PAGES_AT_ONCE = 4;
/** Keys that a comparison names. */
const NAMED_MAX = 10;

/** `cursor`: behind the last page of which all entities, and all before, are put. */
export const ADOPT_STATE = z.strictObject({ cursor: z.string().optional(), records: z.int() });
export type AdoptState = z.infer<typeof ADOPT_STATE>;

export interface AdoptOptions {
  readonly place: PlainPlace;
  readonly store: Store;
  readonly table: string;
  readonly order: 'hash' | 'key';
  /** Goes on there. */
  readonly state: AdoptState | undefined;
  /** Called in order, after all pages up to there are put. */
  readonly onState: (state: AdoptState) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Puts all entities into a table, over what is there. Gives their number. */
export async function adopt(options: AdoptOptions): Promise<number> {
  const { place, state, onState, signal } = options;
  const table = await encodedTable(options.store, options.table, { order: options.order });
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  let count = state?.records ?? 0;
  const put = async ({ records, cursor }: PlainPage, before: Promise<void> | undefined): Promise<void> => {
    try {
      const items = records.map(({ key, value }) => ({ key, value: encode('msgpack', value) }));
      for await (const some of batchesOf(items)) if (some.length > 0) await putAll(table, some, either);
      await before;
      // A state behind a page that failed would leave that one out.
      either.throwIfAborted();
      count += records.length;
      await onState({ cursor, records: count });
    } catch (error) {
      failed.abort(error);
    }
  };
  const putting: Promise<void>[] = [];
  try {
    for await (const page of place.pages(state?.cursor, either)) {
      putting.push(put(page, putting.at(-1)));
      if (putting.length > PAGES_AT_ONCE) await putting.shift();
      if (either.aborted) break;
    }
  } catch (error) {
    failed.abort(error);
  }
  await Promise.all(putting);
  either.throwIfAborted();
  return count;
}

/** Writes all records as entities, over what is there. Gives their number. */
export async function release(table: Table<EncodedValue>, place: PlainPlace, options: RangesOptions): Promise<number> {
  return await putRanges(table, options, (entries, signal) => {
    const plain = entries.map(({ key, value }) => ({ key, value: decode(value) as PlainValue }));
    return place.put(plain, signal);
  });
}

/**
 * Compares each entity with its record, and counts both. The order of properties and expiry do not
 * count. `named`: some keys of records that are not there, or have other values; the sums are of 16
 * hexadecimal digits, over the entities and over their records.
 */
export async function compareWith(
  place: PlainPlace,
  table: Table<EncodedValue>,
  signal: AbortSignal,
  onProgress: (entities: number) => void = () => {},
) {
  const [there, here] = [new Checksum(), new Checksum()];
  const named = new Set<string>();
  for await (const { records } of place.pages(undefined, signal)) {
    const outcomes = await table.getMany(
      records.map(({ key }) => key),
      { signal },
    );
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'failed') throw outcome.error;
      const { key, value } = records[index]!;
      const wanted = lineFor(key, value);
      const found = outcome.status === 'found' ? lineFor(key, decode(outcome.value)) : undefined;
      there.add(wanted);
      if (found !== undefined) here.add(found);
      if (found !== wanted && named.size < NAMED_MAX) named.add(key);
    }
    onProgress(there.records);
  }
  const records = await table.count({ signal });
  const isSame = there.sum === here.sum && there.records === records;
  return { entities: there.records, records, entitiesSum: there.sum, recordsSum: here.sum, named: [...named], isSame };
}

function lineFor(key: string, value: unknown): string {
  return lineOf({ key, value: encode('msgpack', inOrder(value)), version: '', expiresAtMs: undefined });
}

/** The same value, with the members of each object in order of name. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, inOrder(one)]),
  );
}
