// The rows of `npm run growth`: what each call costs on a table of some size, for values of some
// size and keys in some order, and what age leaves behind.
import { openStore } from '../../store/index.ts';
import { chunks } from '../kit/numbers.ts';
import { randomInt, seededRandom } from '../kit/random.ts';
import { keyIndexes } from '../work/distributions.ts';
import { randomText } from '../work/sample-records.ts';
import { type Between, Counted, type Figures, type Item, type Layout, type Open, packed, plain } from './counted.ts';

/**
 * `append`: writes go behind the last record, and reads mostly near it. `tenant`: all keys are of
 * one run that has a hundredth of the records.
 */
export type Keys = 'uniform' | 'zipfian' | 'append' | 'tenant';

export interface Cell {
  readonly records: number;
  readonly bytes: number;
  readonly keys: Keys;
}

export interface Row extends Cell {
  readonly call: string;
  /** Containers at the end of the row; of a vacuum, before it. */
  readonly containers: number;
  readonly packed: Figures;
  /** The same calls on an entity per record; of puts, the table as it was freshly loaded. */
  readonly beside?: Figures;
}

/** Values of a cell, and those that one call writes, together. */
const POOL_BYTES_MAX = 16_000_000;
const SOAK_CALLERS = 16;
const SOAK_PUTS_PER_RECORD = 3;
/** The least that a table may ask for. */
const TINY_BYTES = 16_384;
const VACUUM_MS_MAX = 3_600_000;

/** Draws the keys and values of a cell's calls: the same for each layout. */
class Draws {
  readonly #random = seededRandom(1);
  readonly #cell: Cell;
  readonly #values: readonly string[];
  readonly #read: () => number;
  count: number;

  constructor(cell: Cell) {
    const { records, bytes, keys } = cell;
    this.#cell = cell;
    this.count = records;
    const values = Math.ceil(Math.min(4_096, POOL_BYTES_MAX / bytes));
    this.#values = Array.from({ length: values }, () => randomText(this.#random, bytes));
    const choice = ({ zipfian: 'zipfian-over-records', append: 'latest' } as const)[keys as string] ?? 'uniform';
    this.#read = keyIndexes(choice, { count: () => this.count, insertsExpected: 0 }, this.#random);
  }

  index(): number {
    const { keys, records } = this.#cell;
    return keys === 'tenant' ? records / 2 + randomInt(this.#random, records / 100) : this.#read();
  }

  key(): string {
    return keyOf(this.index());
  }

  keys(length: number): string[] {
    return Array.from({ length }, () => this.key());
  }

  itemAt(index: number): Item {
    return { key: keyOf(index), value: this.#values[randomInt(this.#random, this.#values.length)]! };
  }

  item(): Item {
    return this.itemAt(this.#cell.keys === 'append' ? this.count++ : this.index());
  }

  /** Records that one call writes. */
  get together(): number {
    return Math.min(1_000, Math.floor(POOL_BYTES_MAX / this.#cell.bytes));
  }

  /** Distinct ones: a call writes no key twice. */
  items(): Item[] {
    const items = Array.from({ length: this.together }, () => this.item());
    return [...new Map(items.map((item) => [item.key, item])).values()];
  }

  /** All records of the table, by call. */
  load(): Item[][] {
    return chunks(
      Array.from({ length: this.count }, (_, index) => this.itemAt(index)),
      this.together,
    );
  }

  /** Those of a run that begins anywhere. */
  run(length: number): string[] {
    const from = Math.min(this.index(), this.#cell.records - length);
    return Array.from({ length }, (_, at) => keyOf(from + at));
  }
}

interface Call {
  readonly name: string;
  /** Whether each call is made by a new process, or all by the one that loaded the table. */
  readonly isCold: boolean;
  readonly times: number;
  readonly make: (layout: Layout, draws: Draws) => () => Promise<unknown>;
}

const CALLS: readonly Call[] = [
  { name: 'get, cold', isCold: true, times: 20, make: ({ get }, draws) => bound(get, draws.key()) },
  { name: 'get', isCold: false, times: 1_000, make: ({ get }, draws) => bound(get, draws.key()) },
  { name: 'getMany of 100', isCold: false, times: 20, make: ({ getMany }, draws) => bound(getMany, draws.keys(100)) },
  { name: 'scan of 100, cold', isCold: true, times: 20, make: ({ scan }, draws) => bound(scan, draws.run(100)) },
  { name: 'scan of 100', isCold: false, times: 20, make: ({ scan }, draws) => bound(scan, draws.run(100)) },
  { name: 'keys, limit 1, cold', isCold: true, times: 20, make: ({ firstKey }) => bound(firstKey, keyOf(0)) },
  { name: 'put', isCold: false, times: 1_000, make: ({ put }, draws) => bound(put, draws.item()) },
  { name: 'putMany of 1,000', isCold: false, times: 2, make: ({ putMany }, draws) => bound(putMany, draws.items()) },
  // Plain entities have none, as the driver's contract has none.
  { name: 'count, cold', isCold: true, times: 1, make: ({ count }) => count! },
  { name: 'count', isCold: false, times: 2, make: ({ count }) => count! },
];

function bound<A>(call: (argument: A) => Promise<unknown>, argument: A): () => Promise<unknown> {
  return () => call(argument);
}

/** Of each call on a table that is loaded for them. */
export async function callRows(cell: Cell, between?: Between): Promise<Row[]> {
  const rows = await rowsOf(cell, packed, between);
  const others = new Map((await rowsOf(cell, plain)).map((row) => [row.call, { beside: row.packed }]));
  return rows.map((row) => ({ ...row, ...others.get(row.call) }));
}

async function rowsOf(cell: Cell, open: Open, between?: Between): Promise<Row[]> {
  const counted = new Counted(between);
  const draws = new Draws(cell);
  const loader = await counted.play(() => open(counted));
  const rows: Row[] = [];
  const note = (call: string, figures: Figures): void => {
    const stored = counted.stored(draws.count);
    rows.push({ ...cell, call, containers: counted.entities, packed: { ...figures, stored } });
  };
  note('load by 1,000', await counted.count(1, async () => draws.load().map((items) => bound(loader.putMany, items))));
  note('open', await counted.count(20, async () => [() => open(counted)]));
  for (const { name, isCold, times, make } of CALLS) {
    if (name.startsWith('count') && loader.count === undefined) continue;
    const prepare = async () => {
      const layout = isCold ? await open(counted) : loader;
      return Array.from({ length: isCold ? 1 : times }, () => make(layout, draws));
    };
    note(name, await counted.count(isCold ? times : 1, prepare));
  }
  return rows;
}

/** Lone puts of random keys by several callers, and what they leave stored beside a fresh table. */
async function soakRow(cell: Cell, between?: Between): Promise<Row> {
  const counted = new Counted(between);
  const draws = new Draws(cell);
  const fresh = await counted.play(async () => {
    const table = await packed(counted);
    for (const items of draws.load()) await table.putMany(items);
    const stored = counted.stored(draws.count);
    for (let put = 0; put < SOAK_PUTS_PER_RECORD * cell.records; put += SOAK_CALLERS)
      await Promise.all(Array.from({ length: SOAK_CALLERS }, () => table.put(draws.item())));
    return stored;
  });
  return {
    ...cell,
    call: `${SOAK_PUTS_PER_RECORD} puts per record`,
    containers: counted.entities,
    packed: { stored: counted.stored(draws.count) },
    beside: { stored: fresh },
  };
}

/** A vacuum of tiny leaves, where a request takes a millisecond: so many are in a row. */
async function vacuumRows(cell: Cell, between?: Between): Promise<Row[]> {
  const counted = new Counted(between, 1);
  const draws = new Draws(cell);
  await counted.play(async () => {
    const table = await openStore(counted).table('growth', { order: 'key', containerBytesMax: TINY_BYTES });
    for (const items of draws.load()) await table.putMany(items);
  });
  const [{ entities: containers }, begunMs] = [counted, counted.nowMs];
  let merged = 0;
  const vacuum = async (): Promise<void> => {
    ({ merged } = await openStore(counted).vacuum('growth', { quietMs: 0, timeoutMs: VACUUM_MS_MAX }));
  };
  const all = await counted.count(1, async () => [vacuum]);
  const perMerge = Object.entries(all).map(([name, figure]) => [name, figure / merged]);
  return [
    { ...cell, containers, call: 'vacuum, per merge', packed: Object.fromEntries(perMerge) as Figures },
    { ...cell, containers, call: 'vacuum, requests in a row', packed: { requests: counted.nowMs - begunMs } },
  ];
}

function keyOf(index: number): string {
  return `k${String(index).padStart(7, '0')}`;
}

type Goal = readonly [call: string, figure: keyof Figures, most: number | ((row: Row) => number)];

/** Goals are of tables with values of this size and keys drawn from all records. */
export const GOAL_BYTES = 300;
/** So many fit into the memory of a process, as most goals take for granted. */
const GOAL_RECORDS_MAX = 100_000;

/** The header of a full leaf, and a page: no more is read for a record or a key. */
const HEADER_AND_PAGE = 9_600;
/** The id of a leaf's last commit, which shows that memory is still right. */
const COMMIT_ID = 8;

const GOALS: readonly Goal[] = [
  ['load by 1,000', 'requests', 3],
  ['load by 1,000', 'writes', 3],
  ['open', 'requests', 1],
  ['get, cold', 'requests', 2],
  ['get, cold', 'read', HEADER_AND_PAGE],
  ['get', 'requests', 1],
  ['get', 'read', COMMIT_ID],
  ['getMany of 100', 'requests', 1],
  ['getMany of 100', 'reads', ({ containers }) => containers],
  ['scan of 100, cold', 'requests', 2.2],
  // 100 records are 25,000 bytes, and the pages at both ends hold others too.
  ['scan of 100, cold', 'read', 38_000],
  ['scan of 100', 'requests', 1.1],
  ['keys, limit 1, cold', 'requests', 2],
  ['keys, limit 1, cold', 'read', HEADER_AND_PAGE],
  ['put', 'requests', 1.01],
  ['put', 'read', COMMIT_ID],
  ['put', 'written', 3_600],
  ['putMany of 1,000', 'requests', 2],
  ['putMany of 1,000', 'writes', ({ containers }) => containers],
  ['count, cold', 'reads', ({ containers }) => 2 * containers],
  ['count', 'reads', ({ containers }) => containers],
  ['count', 'read', ({ containers }) => COMMIT_ID * containers],
  ['3 puts per record', 'stored', ({ beside }) => 1.5 * beside!.stored!],
  // A purge or a merge writes the two leaves and the entry above them, many of each in one request.
  ['vacuum, per merge', 'requests', 1],
  ['vacuum, per merge', 'writes', 3.1],
  // A tenth of what a vacuum takes that merges one pair after another: five for each leaf.
  ['vacuum, requests in a row', 'requests', ({ containers }) => containers / 2],
];

const ofRecords = (records: number): Cell => ({ records, bytes: GOAL_BYTES, keys: 'uniform' });

/** All that goals ask for, of tables of 1,000 records on in tenfold steps. */
export async function goalRows(recordsMax: number, between?: Between): Promise<Row[]> {
  const rows: Row[] = [];
  for (let records = 1_000; records <= recordsMax; records *= 10)
    rows.push(...(await callRows(ofRecords(records), between)));
  rows.push(await soakRow(ofRecords(Math.min(recordsMax, 20_000)), between));
  return [...rows, ...(await vacuumRows(ofRecords(6_000), between))];
}

/** A sentence for each goal that a row misses, and for each that no row is for. */
export function missesOf(rows: readonly Row[]): string[] {
  return GOALS.flatMap(([call, figure, most]) => {
    const judged = rows.filter(
      (row) =>
        row.call === call && row.bytes === GOAL_BYTES && row.keys === 'uniform' && row.records <= GOAL_RECORDS_MAX,
    );
    if (judged.length === 0) return [`${call}: no row`];
    return judged.flatMap((row) => {
      const [is, asked] = [row.packed[figure]!, typeof most === 'number' ? most : most(row)];
      if (is <= asked) return [];
      return [`${call} of ${row.records} records: ${figure} ${is.toFixed(2)}, at most ${asked.toFixed(2)}`];
    });
  });
}
