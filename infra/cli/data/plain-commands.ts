// The commands that lead in and out: adopt, release, compare-with. Neither way is a snapshot: what
// is changed meanwhile arrives as it was at some moment.
import * as z from 'zod';
import { decode, encode, type EncodedValue, type Store, type Table } from '../../../shared/store/index.ts';
import {
  PlainError,
  type PlainOptions,
  type PlainPage,
  type PlainPlace,
  type PlainValue,
} from '../../plain/plain-place.ts';
import { EXIT } from '../exit.ts';
import { choice, UsageError } from '../command-options.ts';
import { say, warn } from '../print.ts';
import { askTool } from '../external-tools.ts';
import { PLAIN_HELP, plainAt } from './address.ts';
import { RANGES, rangesOf } from './commands.ts';
import { batchesOf, COPY_STATE, encodedTable, putAll, putRanges, type RangesOptions } from './copy.ts';
import { FROM, storeCommand, TO } from './open-store.ts';
import { Checksum, lineOf } from './record-line.ts';
import { counted, resumed } from './resumed.ts';

const KEY = {
  value: 'TEMPLATE',
  help: "a record's key by names of properties in braces, as '{tenant}/{id}'; default {path} of Datastore (ids of ancestors and its own, also {id}), {PartitionKey}/{RowKey} of Azure",
};
const WHERE = { value: 'CONDITION', help: 'only these entities: GQL as after WHERE (Datastore), or OData (Azure)' };
const STATE = { value: 'FILE', help: 'where it has come to' };

/** Opens plain entities for one command, and closes them. */
async function withPlain<T>(
  address: string | undefined,
  { key, where, creates = false }: Partial<PlainOptions> & { readonly creates?: boolean },
  work: (place: PlainPlace) => Promise<T>,
): Promise<T> {
  try {
    const surroundings = { ask: askTool, env: process.env, createTable: creates };
    const place = await plainAt('--plain', address, { key, where }, surroundings);
    try {
      return await work(place);
    } finally {
      await place.close();
    }
  } catch (error) {
    if (error instanceof PlainError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

const adoptAll = storeCommand({
  name: 'stowage adopt',
  about: `Puts plain entities into a table, of Datastore or of Azure Tables, a record for each, then compares both. Run again after an
interruption it goes on. A property $plain of the record keeps what a value does not show: types, index flags, a key.
Exit codes: 0 all are there, 1 it failed, or both differ, 2 an entity that cannot be a record, or a wrong command.
${PLAIN_HELP}`,
  options: {
    plain: { value: 'PLAIN', help: 'where the entities are; it must be given' },
    to: TO,
    key: KEY,
    where: WHERE,
    order: { value: 'hash|key', default: 'hash', help: 'of a table that does not exist' },
    state: { ...STATE, help: `${STATE.help}; default TABLE.adopt.json` },
  },
  examples: ['stowage adopt users --plain gcp://my-project/kind:User --to gcp://my-project/stowage-prod'],
  async run(store, { operands: [name = ''], values, typed }, signal) {
    const { plain, key, where, state: file = `${name}.adopt.json` } = values;
    const order = choice('--order', values.order, ['hash', 'key']);
    await withPlain(plain, { key, where }, async (place) => {
      const of = [plain ?? '', key ?? '', where ?? '', values.to ?? '', name];
      const records = await resumed({ file, of, shape: ADOPT_STATE, done: 'were put', typed }, (state, onState) =>
        adopt({ place, store, table: name, order, state, onState, signal }),
      );
      if (records === 0) warn(`There are no entities in ${plain}: is its name right?`);
      const table = await encodedTable(store, name, { create: false });
      await compared(place, table, records, signal);
    });
  },
});

const releaseAll = storeCommand({
  name: 'stowage release',
  about: `Writes a table's records as plain entities, over those with the same keys, then compares both. Run again after an
interruption it goes on. What adopt took comes back with the types that it had; the table stays.
Exit codes: as of adopt.
${PLAIN_HELP}`,
  options: {
    from: FROM,
    plain: { value: 'PLAIN', help: 'where the entities go; it must be given' },
    'create-table': { help: 'makes the Azure table first' },
    key: KEY,
    ranges: RANGES,
    state: { ...STATE, help: `${STATE.help}; default TABLE.release.json` },
  },
  examples: ['stowage release users --from gcp://my-project/stowage-prod --plain gcp://my-project/kind:User'],
  async run(store, { operands: [name = ''], values, typed }, signal) {
    const { plain, key, state: file = `${name}.release.json` } = values;
    await withPlain(plain, { key, creates: values['create-table'] }, async (place) => {
      const of = [values.from ?? '', name, plain ?? ''];
      const table = await encodedTable(store, name, { create: false });
      const records = await resumed({ file, of, shape: COPY_STATE, done: 'were written', typed }, (state, onState) =>
        release(table, place, { ranges: rangesOf(values), state, onState, signal }),
      );
      await compared(place, table, records, signal);
    });
  },
});

const compareAll = storeCommand({
  name: 'stowage compare-with',
  about: `Compares a table with plain entities: numbers, checksums, and some of the keys that differ.
Exit codes: 0 both hold the same, 1 they differ, or it failed, 2 an entity that cannot be a record, or a wrong command.
${PLAIN_HELP}`,
  options: {
    from: FROM,
    plain: { value: 'PLAIN', help: 'where the entities are; it must be given' },
    key: KEY,
    where: WHERE,
  },
  examples: ['stowage compare-with users --from gcp://my-project/stowage-prod --plain gcp://my-project/kind:User'],
  async run(store, { operands: [name = ''], values }, signal) {
    const table = await encodedTable(store, name, { create: false });
    await withPlain(values.plain, values, (place) => compared(place, table, undefined, signal));
  },
});

/** `expected`: how many entities there are, if that is known. */
async function compared(
  place: PlainPlace,
  table: Table<EncodedValue>,
  expected: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const comparing = counted(
    (onProgress) => compareWith(place, table, signal, (seen) => onProgress(seen, expected && seen / expected)),
    (seen) => `${seen} entities were compared`,
  );
  const { entities, records, entitiesSum, recordsSum, named, isSame } = await comparing;
  if (isSame) return say(`Both hold the same ${records} records (checksum ${recordsSum}).`);
  process.exitCode = EXIT.failed;
  say(
    `They differ: ${entities} entities (checksum ${entitiesSum}), ${records} records (checksum of theirs ${recordsSum}).`,
  );
  if (named.length > 0) say(`Missing, or with other values: ${named.map((key) => JSON.stringify(key)).join(', ')}.`);
  if (records < entities) say('Fewer records than entities: give another --key if several entities have the same.');
  if (records > entities) say('The table holds records beyond them.');
}

export const PLAIN_COMMANDS = { adopt: adoptAll, release: releaseAll, 'compare-with': compareAll };

/** Pages that are put at once, while another is read. More would take more memory. */
const PAGES_AT_ONCE = 4;
/** Keys that a comparison names. */
const NAMED_MAX = 10;

/** `cursor`: behind the last page of which all entities, and all before, are put. */
const ADOPT_STATE = z.strictObject({ cursor: z.string().optional(), records: z.int() });
export type AdoptState = z.infer<typeof ADOPT_STATE>;

interface AdoptOptions {
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
async function release(table: Table<EncodedValue>, place: PlainPlace, options: RangesOptions): Promise<number> {
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
