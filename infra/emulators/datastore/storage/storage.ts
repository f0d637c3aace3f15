// All entities in memory, by partition, kind and key, and the older states that open transactions
// may still read. If a file is named, a call's writes are in it before the call is answered.
import { keyName, type KeyRef } from '../entities/entity-keys.ts';
import { type Change, openJournal } from './journal.ts';

/** One state of one key. Never changed, except that `older` is cut off. */
export interface Stored {
  /** The key's order string. */
  readonly order: string;
  /** When it was committed, in microseconds since 1970. No two commits have the same. */
  readonly version: number;
  /** Version of the commit that created the entity. */
  readonly created: number;
  /** The encoded entity; undefined if this commit deleted it. */
  readonly entity: Buffer | undefined;
  older: Stored | undefined;
}

/** The entities of one kind in one partition. */
export interface Table {
  readonly kind: string;
  readonly states: Map<string, Stored>;
  /** Sorted order strings, some perhaps of deleted keys. Undefined until a query needs them. */
  orders: string[] | undefined;
}

export type Storage = ReturnType<typeof createStorage>;

type TableRef = Pick<KeyRef, 'partition' | 'kind'>;

/** An entity in the file. */
type Kept = TableRef & Omit<Stored, 'older'>;

export type KeptStorage = ReturnType<typeof createKeptStorage>;

/** The key in the file of the greatest version that was given out; no entity's is empty. */
const LAST_VERSION = '';

/** Without a file the data is in memory alone. Throws if the file holds something else. */
export function createKeptStorage(nowMs: () => number, file: string | undefined) {
  if (file === undefined) {
    const storage = createStorage(nowMs);
    return { storage, keep() {}, clear: () => storage.clear(), close() {} };
  }
  const changed = new Map<string, KeyRef>();
  const storage = createStorage(nowMs, (key) => changed.set(keyName(key), key));
  const journal = openJournal(file, (entries) => {
    const entities = [...entries].flatMap(([name, kept]) => (name === LAST_VERSION ? [] : [kept as Kept]));
    storage.restore(Number(entries.get(LAST_VERSION) ?? 0), entities);
  });
  return {
    storage,
    /** Writes the changes since the last call to the file. */
    keep() {
      if (changed.size === 0) return;
      journal.append([[LAST_VERSION, storage.lastVersion], ...[...changed].map((one) => changeOf(storage, one))]);
      changed.clear();
    },
    clear() {
      storage.clear();
      changed.clear();
      journal.clear();
    },
    close: () => journal.close(),
  };
}

/** The key's present state, also after a transaction was rolled back. */
function changeOf(storage: Storage, [name, key]: readonly [string, KeyRef]): Change {
  const stored = storage.get(key);
  if (stored === undefined) return [name, undefined];
  const { partition, kind } = key;
  const { order, version, created, entity } = stored;
  return [name, { partition, kind, order, version, created, entity } satisfies Kept];
}

const MICROSECONDS_PER_MS = 1_000;

/** Calls `changed` with each key that is written or deleted. */
function createStorage(nowMs: () => number, changed: (key: KeyRef) => void = () => {}) {
  const partitions = new Map<string, Map<string, Table>>();
  /** Versions of open snapshots, oldest first, since they are opened in order. */
  const snapshots = new Set<{ readonly version: number }>();
  /** States that exist only for snapshots. */
  let superseded = new Set<{ readonly table: Table; readonly order: string }>();
  let undo: { readonly table: Table; readonly order: string; readonly before: Stored | undefined }[] | undefined;
  let lastVersion = 0;

  const tableOf = (key: TableRef) => partitions.get(key.partition)?.get(key.kind);

  const nextVersion = (): number => {
    lastVersion = Math.max(lastVersion + 1, Math.floor(nowMs() * MICROSECONDS_PER_MS));
    return lastVersion;
  };

  // From here on every version is greater than zero, which means "none".
  nextVersion();

  const oldestSnapshot = () => snapshots.values().next().value?.version;

  const sweep = (): void => {
    for (const { table, order } of superseded) {
      const state = table.states.get(order);
      if (state === undefined) continue;
      state.older = undefined;
      if (state.entity === undefined) forget(table, order);
    }
    superseded = new Set();
  };

  return {
    /** The state at a version, or else the present one. Undefined if there is no entity. */
    get(key: KeyRef, version?: number): Stored | undefined {
      let state = tableOf(key)?.states.get(key.order);
      if (version !== undefined) state = asOf(state, version);
      return state?.entity === undefined ? undefined : state;
    },
    /** The version of a key's last change; 0 if none is known. */
    lastChange: (key: KeyRef): number => tableOf(key)?.states.get(key.order)?.version ?? 0,
    /** Writes or, without an entity, deletes. */
    put(key: KeyRef, entity: Buffer | undefined, version: number): Stored {
      changed(key);
      const table = tableOf(key) ?? addTable(partitions, key);
      const before = table.states.get(key.order);
      undo?.push({ table, order: key.order, before });
      const oldest = oldestSnapshot();
      const created = before?.entity === undefined ? version : before.created;
      const older = oldest === undefined ? undefined : before;
      const state: Stored = { order: key.order, version, created, entity, older };
      if (before === undefined) addOrder(table, key.order);
      table.states.set(key.order, state);
      if (oldest !== undefined) {
        cutOff(state, oldest);
        superseded.add({ table, order: key.order });
      } else if (entity === undefined) {
        forget(table, key.order);
      }
      return state;
    },
    /** A version greater than all before. */
    nextVersion,
    /** The greatest version so far. */
    get lastVersion() {
      return lastVersion;
    },
    /** Undefined if nothing of this kind was ever written. */
    table: (partition: string, kind: string) => tableOf({ partition, kind }),
    /** Keeps the states as of now readable until it is closed. */
    openSnapshot() {
      const snapshot = { version: lastVersion };
      snapshots.add(snapshot);
      return {
        version: snapshot.version,
        close() {
          if (snapshots.delete(snapshot) && snapshots.size === 0) sweep();
        },
      };
    },
    /** Takes all writes of `work` back if it throws. Must not be nested. */
    atomically<Result>(work: () => Result): Result {
      undo = [];
      try {
        return work();
      } catch (error) {
        for (const { table, order, before } of undo.toReversed()) {
          if (before === undefined) forget(table, order);
          else remember(table, order, before);
        }
        throw error;
      } finally {
        undo = undefined;
      }
    },
    clear() {
      partitions.clear();
      superseded.clear();
    },
    /** Fills an empty storage. */
    restore(version: number, entities: readonly Kept[]) {
      lastVersion = Math.max(lastVersion, version);
      for (const { partition, kind, ...state } of entities) {
        const table = tableOf({ partition, kind }) ?? addTable(partitions, { partition, kind });
        addOrder(table, state.order);
        table.states.set(state.order, { ...state, older: undefined });
      }
    },
  };
}

/** The state that was valid at a version. */
function asOf(state: Stored | undefined, version: number): Stored | undefined {
  let found = state;
  while (found !== undefined && found.version > version) found = found.older;
  return found;
}

/** The sorted order strings in [from, to), perhaps with those of deleted entities. */
export function sortedOrders(table: Table, from: string, to: string | undefined): string[] {
  const orders = (table.orders ??= [...table.states.keys()].sort());
  const start = firstNotBelow(orders, from);
  const end = to === undefined ? orders.length : firstNotBelow(orders, to);
  return start === 0 && end === orders.length ? orders : orders.slice(start, end);
}

function firstNotBelow(orders: readonly string[], bound: string): number {
  let low = 0;
  let high = orders.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (orders[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addTable(partitions: Map<string, Map<string, Table>>, { partition, kind }: TableRef): Table {
  const table: Table = { kind, states: new Map(), orders: [] };
  const tables = partitions.get(partition);
  if (tables === undefined) partitions.set(partition, new Map([[kind, table]]));
  else tables.set(kind, table);
  return table;
}

/** A new key behind all others keeps the table sorted; after any other it is sorted again later. */
function addOrder(table: Table, order: string): void {
  const last = table.orders?.at(-1);
  if (last === undefined || last < order) table.orders?.push(order);
  else table.orders = undefined;
}

/** Puts back a state that a write has replaced or removed. */
function remember(table: Table, order: string, state: Stored): void {
  if (!table.states.has(order)) table.orders = undefined;
  table.states.set(order, state);
}

const LINGERING_MIN = 1_000;

function forget(table: Table, order: string): void {
  table.states.delete(order);
  const { orders, states } = table;
  if (orders !== undefined && orders.length > 2 * states.size + LINGERING_MIN) table.orders = undefined;
}

/** Drops the states that are older than the one that the oldest snapshot reads. */
function cutOff(state: Stored, oldest: number): void {
  const read = asOf(state, oldest);
  if (read !== undefined) read.older = undefined;
}
