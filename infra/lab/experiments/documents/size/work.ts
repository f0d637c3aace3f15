// The work that is done at each container size: a table is loaded, changed, read and scanned.
import { chunks } from '../../../../../shared/lab/kit/chunks.ts';
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../../../../../shared/lab/cost/operations.ts';
import { PRICES_2026_11 } from '../../../../../shared/lab/cost/prices-2026-11.ts';
import type { Driver, Table, TableOptions } from '../../../../../shared/store/index.ts';
import { type CountedStore, countedStore } from '../../counted-store.ts';
import type { TextRecord } from '../../plain-sdk/plain-sdk.ts';
import { forEachOf, type Numbers } from '../../rounds.ts';
import { type Cost, costOf } from '../../spending.ts';
import { getAll, putAll } from '../../text-table.ts';
import { textsOf } from '../../texts.ts';

/** `memory`: the memory driver, in this process, without any network. */
export type Place = Provider | 'memory';

export const KINDS = ['load', 'put', 'puts', 'get', 'first', 'scan'] as const;

export type Kind = (typeof KINDS)[number];

export interface Amounts {
  readonly records: number;
  /** Lone puts, puts of each of 32 callers, lone gets, and gets of processes that know nothing. */
  readonly puts: number;
  readonly putsOfEach: number;
  readonly gets: number;
  readonly firstGets: number;
}

const CHARACTERS = 500;
const PER_CALL = 500;
const LOADERS = 4;
/** What a split leaves to be mended is mended by who meets it, a branch a second. */
const REST_MAX_MS = 30_000;
export const CALLERS = 32;
/** Coprime to the numbers of records used. */
const STRIDE = 7_919;

/** The price list's day. */
export const PRICED = PRICES_2026_11.date;
const PRICES = operationPriceList(PRICES_2026_11).providers;

export function columnId(place: Place, kind: Kind, suffix: 'ms' | 'cpu' | 'requests' | 'dollars'): string {
  return `${place}-${kind}-${suffix}`;
}

/** Ids of all columns of a place. */
export function columnsAt(place: Place): string[] {
  const suffixes = place === 'memory' ? (['ms', 'cpu', 'requests'] as const) : SUFFIXES;
  return KINDS.flatMap((kind) => suffixes.map((suffix) => columnId(place, kind, suffix)));
}

const SUFFIXES = ['ms', 'cpu', 'requests', 'dollars'] as const;

export interface Site {
  readonly place: Place;
  /** Stays open: its owner closes it. */
  readonly driver: Driver;
  /** With which every table is opened. */
  readonly options: Omit<TableOptions, 'codec'>;
  readonly counted: CountedStore;
}

/** A store on the driver; closing the store leaves the driver open. */
export function storeOn(place: Place, driver: Driver): CountedStore {
  return countedStore(place === 'memory' ? 'datastore' : place, { ...driver, close: async () => {} });
}

/** All kinds of work once, on a new table; numbers are those of one record, or of one scan. */
export async function workAt(
  { place, driver, options, counted }: Site,
  { name, amounts, signal }: { readonly name: string; readonly amounts: Amounts; readonly signal: AbortSignal },
): Promise<Numbers> {
  const { records, puts, putsOfEach, gets, firstGets } = amounts;
  const textOf = textsOf(CHARACTERS);
  let drawn = 0;
  const record = (): TextRecord => ({ key: keyOf(((drawn += 1) * STRIDE) % records), text: textOf(drawn * 3) });
  const some = (count: number): TextRecord[] => Array.from({ length: count }, record);
  const table = await counted.store.table<string>(name, options);
  const put = ({ key, text }: TextRecord): Promise<unknown> => table.put(key, text, { signal });
  const written = {
    load: [await costOf(counted, () => load(table, records, textOf, signal)), records],
    put: [await costOf(counted, () => forEachOf(some(puts), { inFlight: 1, signal }, put)), puts],
    puts: [
      await costOf(counted, () => forEachOf(some(CALLERS * putsOfEach), { inFlight: CALLERS, signal }, put)),
      CALLERS * putsOfEach,
    ],
  } as const;
  const reader = await readerAtRest({ place, driver, options }, name, records, signal);
  try {
    const costs: Record<Kind, readonly [cost: Cost, pieces: number]> = {
      ...written,
      get: [
        await costOf(reader.counted, () =>
          forEachOf(some(gets), { inFlight: 1, signal }, ({ key }) => find(reader.table, key, signal)),
        ),
        gets,
      ],
      first: [await firstGet({ place, driver, options }, name, some(firstGets), signal), firstGets],
      scan: [await costOf(reader.counted, () => scan(reader.table, records, signal)), 1],
    };
    return Object.assign({}, ...KINDS.map((kind) => numbersOf(place, kind, ...costs[kind]))) as Numbers;
  } finally {
    await reader.counted.store.close();
  }
}

function keyOf(index: number): string {
  return `k${String(index).padStart(8, '0')}`;
}

async function load(
  table: Table<string>,
  records: number,
  textOf: (index: number) => string,
  signal: AbortSignal,
): Promise<void> {
  const all = Array.from({ length: records }, (_, index) => ({ key: keyOf(index), text: textOf(index) }));
  await forEachOf(chunks(all, PER_CALL), { inFlight: LOADERS, signal }, (some) => putAll(table, some, signal));
}

interface Reader {
  readonly counted: CountedStore;
  readonly table: Table<string>;
}

/**
 * A store that has the whole table in memory, and came to every record without a detour: nothing that it
 * is asked next brings requests to mend a branch. Throws if there is none within `REST_MAX_MS`.
 */
async function readerAtRest(
  { place, driver, options }: Omit<Site, 'counted'>,
  name: string,
  records: number,
  signal: AbortSignal,
): Promise<Reader> {
  const keys = Array.from({ length: records }, (_, index) => keyOf(index));
  const untilMs = performance.now() + REST_MAX_MS;
  while (performance.now() < untilMs) {
    const counted = storeOn(place, driver);
    try {
      const table = await counted.store.table<string>(name, { ...options, create: false });
      await readUntilMended(table, keys, untilMs, signal);
      if (table.stats().rightWalks === 0) return { counted, table };
    } catch (error) {
      await counted.store.close();
      throw error;
    }
    await counted.store.close();
  }
  throw new Error(`after ${REST_MAX_MS} ms there are branches that do not know all leaves`);
}

/** Reads all records, again and again, until it comes to all of them without a detour, or time is out. */
async function readUntilMended(
  table: Table<string>,
  keys: readonly string[],
  untilMs: number,
  signal: AbortSignal,
): Promise<void> {
  let walks: number;
  do {
    walks = table.stats().rightWalks;
    for (const some of chunks(keys, PER_CALL)) await getAll(table, some, signal);
  } while (table.stats().rightWalks > walks && performance.now() < untilMs);
}

async function find(table: Table<string>, key: string, signal: AbortSignal): Promise<void> {
  if ((await table.get(key, { signal })) === undefined) throw new Error(`there is no record ${key}`);
}

/** Each get by a store that has seen nothing yet, opening the table included. */
async function firstGet(
  { place, driver, options }: Omit<Site, 'counted'>,
  name: string,
  records: readonly TextRecord[],
  signal: AbortSignal,
): Promise<Cost> {
  const stores: CountedStore[] = [];
  const all = { spent: () => sumOf(stores) };
  const cost = await costOf(all, () =>
    forEachOf(records, { inFlight: 1, signal }, async ({ key }) => {
      const counted = storeOn(place, driver);
      stores.push(counted);
      await find(await counted.store.table<string>(name, { ...options, create: false }), key, signal);
    }),
  );
  await Promise.all(stores.map(({ store }) => store.close()));
  return cost;
}

function sumOf(stores: readonly CountedStore[]): Cost['spent'] {
  const spent = stores.map((one) => one.spent());
  const sum = (of: (one: Cost['spent']) => number): number => spent.reduce((total, one) => total + of(one), 0);
  return {
    requests: sum(({ requests }) => requests),
    billable: {
      reads: sum(({ billable }) => billable.reads),
      writes: sum(({ billable }) => billable.writes),
      deletes: sum(({ billable }) => billable.deletes),
    },
  };
}

async function scan(table: Table<string>, records: number, signal: AbortSignal): Promise<void> {
  let found = 0;
  for await (const _ of table.scan({ signal })) found += 1;
  if (found !== records) throw new Error(`a scan found ${found} of ${records} records`);
}

function numbersOf(place: Place, kind: Kind, { wallMs, cpuMs, spent }: Cost, pieces: number): Numbers {
  return {
    [columnId(place, kind, 'ms')]: wallMs / pieces,
    [columnId(place, kind, 'cpu')]: cpuMs / pieces,
    [columnId(place, kind, 'requests')]: spent.requests / pieces,
    ...(place === 'memory'
      ? {}
      : { [columnId(place, kind, 'dollars')]: dollarsPerMillionRecords(spent.billable, pieces, PRICES[place]) }),
  };
}
