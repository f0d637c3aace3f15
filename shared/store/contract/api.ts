// The public interface: stores, tables, scans. tests/store/examples.test.ts runs each @example
// behind that of `Store`, and compares the values behind `// =>`.
import type {
  ContainerInfo,
  InspectOptions,
  RepairOptions,
  RepairReport,
  VacuumOptions,
  VacuumReport,
  VerifyOptions,
  VerifyReport,
} from './admin.ts';
import type {
  BatchItem,
  CallOptions,
  DeleteItem,
  DeleteOptions,
  EncodedValue,
  GetManyOptions,
  GetOptions,
  InputOf,
  JsonOf,
  Order,
  OutputOf,
  PutItem,
  PutOptions,
  RangeOptions,
  ScanOptions,
  StandardSchema,
  TableOptions,
  TouchOptions,
  UpdateOptions,
} from './options.ts';
import type {
  BatchOutcome,
  DeleteOutcome,
  Entry,
  GetOutcome,
  KeyScan,
  PutOutcome,
  Scan,
  TableInfo,
  UpdateItem,
  UpdateOutcome,
} from './results.ts';
import type { TableStats } from './stats.ts';

/**
 * Tables in one provider. Calls fail with a StoreError, for misuse with a TypeError. `await using`
 * closes the store at the end of its block.
 *
 * @example
 * await using store = openStore({ driver: memoryDriver() });
 * const users = await store.table<{ name: string }>('users', { order: 'key' });
 * await users.put('user:1', { name: 'Ada' });
 */
export interface Store extends AsyncDisposable {
  /**
   * Opens a table, and creates it if need be. Codec and schema decide which values it takes. Cost:
   * 1 request for an existing table, 3 to create one, more to pre-split it.
   *
   * @example
   * const again = await store.table('users', { create: false });
   * again.order; // => 'key'
   */
  table<S extends StandardSchema>(
    name: string,
    options: TableOptions & { readonly schema: S },
  ): Promise<Table<OutputOf<S>, InputOf<S>>>;
  table(name: string, options: TableOptions & { readonly codec: 'bytes' }): Promise<Table<Uint8Array>>;
  table(name: string, options: TableOptions & { readonly codec: 'encoded' }): Promise<Table<EncodedValue>>;
  table<V = unknown>(name: string, options: TableOptions & { readonly codec: 'json' }): Promise<Table<JsonOf<V>>>;
  table<V = unknown>(name: string, options?: TableOptions & { readonly codec?: 'msgpack' | 'json' }): Promise<Table<V>>;
  table(name: string, options?: TableOptions): Promise<Table<unknown>>;
  /**
   * All tables, by name, also damaged ones. Cost: 1 request for each page of the list, and a read
   * of each root.
   *
   * @example
   * const [first] = await store.tables();
   * first?.name; // => 'users'
   */
  tables(options?: CallOptions): Promise<TableInfo[]>;
  /**
   * Removes a table and all its containers; false if there was none. Cost: in proportion to its
   * containers.
   *
   * @example
   * await store.drop('users'); // => true
   */
  drop(name: string, options?: CallOptions): Promise<boolean>;
  /**
   * Removes containers that interrupted splits and drops left behind, then purges quiet containers
   * and merges those that one process at most writes. Safe beside any other call, to which it
   * leaves three quarters of the requests in flight. Its deadline does not fail it: it resolves
   * with what was done by then and a cursor to go on with. Cost: a read of each container, three
   * writes for each merge, many of each in one request where the provider takes them.
   *
   * @example
   * (await store.vacuum('users', { quietMs: 0 })).cursor; // => undefined
   */
  vacuum(name: string, options?: VacuumOptions): Promise<VacuumReport>;
  /**
   * Reads everything that is stored of a table and reports what is damaged, missing or misplaced.
   * Writes nothing, and may run beside anything. Rejects with `not_found`. Cost: a read of each
   * container, none shared with other reads.
   *
   * @example
   * const { records, findings } = await store.verify('users');
   * records; // => 1
   * findings; // => []
   */
  verify(name: string, options?: VerifyOptions): Promise<VerifyReport>;
  /**
   * Shows one container as it is stored, damaged or not: the root, the one named, or the leaf that
   * owns a key. Rejects with `not_found`, and `invalid` for a container that is not there. Cost: 1
   * request, for a key some more.
   *
   * @example
   * const { header, pages } = await store.inspect('users', { key: 'user:1' });
   * [header?.level, pages[0]?.records]; // => [0, 1]
   */
  inspect(name: string, options?: InspectOptions): Promise<ContainerInfo>;
  /**
   * Mends what `verify` finds: keeps the records of readable pages, makes branches anew, and hands
   * all it takes away to `save` first. Safe beside writers, and may be run again. Rejects with
   * `corrupt`, nothing changed, at a newer format or a table whose root was created anew. Cost: two
   * verifications, some four requests a damaged container.
   *
   * @example
   * const save = async (taken) => fs.appendFile('taken.ndjson', JSON.stringify(taken));
   * const { mended } = await store.repair('users', { save });
   * mended; // => 0
   */
  repair(name: string, options: RepairOptions): Promise<RepairReport>;
  /**
   * Waits up to 5 s for work under way, fails the rest, and closes the driver unless another store
   * is open on it. Idempotent.
   *
   * @example
   * await store.close();
   */
  close(): Promise<void>;
}

/**
 * A table. Operations on one record are linearizable. Calls reject with a StoreError, for misuse
 * with a TypeError, which `scan` throws. Each cost is the usual number of requests with branches
 * cached. It gives values of type `V` and takes those of type `In`.
 */
export interface Table<V, In = V> {
  readonly name: string;
  readonly order: Order;
  /** As `TableOptions.groupBy`; undefined without groups. */
  readonly groupBy: string | undefined;
  /** Whether the call that opened this handle created the table. */
  readonly isNew: boolean;
  /**
   * The record; undefined if there is none. Cost: 1 request (0 within `maxAgeMs`), 2 when the
   * container is not cached.
   *
   * @example
   * const user = await users.get('user:1');
   * user?.value; // => { name: 'Ada' }
   */
  get(key: string, options?: GetOptions): Promise<Entry<V> | undefined>;
  /**
   * Whether there is a record. Cost: as `get`, without decoding the value.
   *
   * @example
   * await users.has('user:1'); // => true
   */
  has(key: string, options?: GetOptions): Promise<boolean>;
  /**
   * An outcome for each key, in order. Keys may repeat. A damaged page fails its own keys only.
   * Records beyond `bytesMax` fail as `too_large`. Cost: requests by containers, not by keys.
   *
   * @example
   * const outcomes = await users.getMany(['user:1', 'user:2']);
   * outcomes.map(({ status }) => status); // => ['found', 'absent']
   */
  getMany(keys: readonly string[], options?: GetManyOptions): Promise<GetOutcome<V>[]>;
  /**
   * Writes a record, under a condition if one is given. Cost: 1 request when the container is
   * cached; concurrent writes to a container share one.
   *
   * @example
   * const { version } = await users.put('user:2', { name: 'Grace' }, { ifAbsent: true });
   * await users.put('user:2', { name: 'Grace H.' }, { ifVersion: version });
   */
  put(key: string, value: In, options?: PutOptions): Promise<{ readonly version: string }>;
  /**
   * An outcome for each item, in order; equal keys take effect in order. Do not change items until
   * it settles. Cost: requests by containers.
   *
   * @example
   * const eve = { key: 'user:1', value: { name: 'Eve' }, ifAbsent: true };
   * const [outcome] = await users.putMany([eve]);
   * outcome?.status; // => 'failed'
   */
  putMany(items: readonly PutItem<In>[], options?: CallOptions): Promise<PutOutcome[]>;
  /**
   * Puts what a source gives. Outcomes come in order, once known, and nothing is done before they
   * are iterated. It writes slices of 5,000 items or 8 MiB, one after the other, each with its own
   * `timeoutMs`, and reads the next one meanwhile: it holds two. Leaving the loop ends the source.
   * If the source throws, or an item is a misuse, what came before is written first. `signal` ends
   * it with `aborted`, behind the outcomes of what was sent. Cost: as `putMany` of each slice.
   *
   * @example
   * async function* source() {
   *   for (let id = 4; id < 7; id += 1) yield { key: `user:${id}`, value: { name: 'Ada' } };
   * }
   * for await (const put of users.putMany(source())) if (put.status === 'failed') throw put.error;
   * await users.has('user:6'); // => true
   */
  putMany(items: AsyncIterable<PutItem<In>>, options?: CallOptions): AsyncIterable<PutOutcome>;
  /**
   * Reads and writes in one step. `change` gives the new value, DELETE, or undefined to keep the
   * record. It is synchronous, may run again, and its errors reach the caller. A value that encodes
   * as before is not written, unless its expiry changes. Resolves to the record as it then stands.
   * Cost: as `put`.
   *
   * @example
   * const visits = await store.table<number>('visits');
   * await visits.update('home', (current) => (current?.value ?? 0) + 1);
   * await visits.update('home', () => DELETE); // => undefined
   */
  update(key: string, change: UpdateItem<V, In>['change'], options?: UpdateOptions): Promise<Entry<V> | undefined>;
  /**
   * An outcome for each item, in order; equal keys take effect in order. Cost: requests by
   * containers.
   *
   * @example
   * const visits = await store.table<number>('visits');
   * const change = (current?: Entry<number>) => (current?.value ?? 0) + 1;
   * const outcomes = await visits.updateMany(['home', 'news'].map((key) => ({ key, change })));
   * outcomes.map(({ status }) => status); // => ['written', 'written']
   */
  updateMany(items: readonly UpdateItem<V, In>[], options?: CallOptions): Promise<UpdateOutcome<V>[]>;
  /**
   * Gives a record another expiry; false if there is none. Its value stays, its version does not.
   * One that expires while the call is under way may be absent for others, and then there again.
   * Cost: as `put`.
   *
   * @example
   * await users.touch('user:1', { ttlMs: 3_600_000 }); // => true
   */
  touch(key: string, options?: TouchOptions): Promise<boolean>;
  /**
   * Deletes a record; an absent one is no error. `version` is the deletion's. Cost: as `put`.
   *
   * @example
   * const { deleted } = await users.delete('user:1');
   * deleted; // => true
   */
  delete(
    key: string,
    options?: DeleteOptions,
  ): Promise<{ readonly deleted: boolean; readonly version: string | undefined }>;
  /**
   * An outcome for each item, in order. Cost: requests by containers.
   *
   * @example
   * const outcomes = await users.deleteMany(['user:1', { key: 'user:3' }]);
   * outcomes.map(({ status }) => status); // => ['deleted', 'absent']
   */
  deleteMany(items: readonly (string | DeleteItem)[], options?: CallOptions): Promise<DeleteOutcome[]>;
  /**
   * Deletes what a source names, as `putMany` puts what one gives.
   *
   * @example
   * await Array.fromAsync(users.deleteMany(users.keys({ prefix: 'user:' })));
   * await users.count({ prefix: 'user:' }); // => 0
   */
  deleteMany(items: AsyncIterable<string | DeleteItem>, options?: CallOptions): AsyncIterable<DeleteOutcome>;
  /**
   * Puts and deletes of one group (`TableOptions.groupBy`), each key once, all or none. A
   * condition that fails fails all. A `getMany` of the group shows all or nothing. Cost: as `put`.
   *
   * @example
   * const orders = await store.table<{ total: number }>('orders', { order: 'key', groupBy: '/' });
   * const [order] = await orders.batch([
   *   { key: '7/order', value: { total: 2 }, ifAbsent: true },
   *   { key: '7/line:1', value: { total: 2 } },
   *   { key: '7/draft', delete: true },
   * ]);
   * await orders.batch([{ key: '7/order', delete: true, ifVersion: order!.version! }]);
   */
  batch(items: readonly BatchItem<In>[], options?: CallOptions): Promise<BatchOutcome[]>;
  /**
   * Rejects with the first error that `putMany`, `deleteMany` or `batch` would have for an item as
   * such: a key, value or option that cannot be stored. Cost: 0; it encodes each value.
   *
   * @example
   * const items = [{ key: 'user:1', value: { name: 'Ada' } }];
   * await users.check(items);
   * await users.putMany(items);
   */
  check(items: readonly BatchItem<In>[]): Promise<void>;
  /**
   * Records in order of position. Cost: 1 request a leaf; without `limit` it reads leaves ahead.
   *
   * @example
   * const scan = users.scan({ prefix: 'user:', limit: 100 });
   * for await (const { key, value } of scan) console.log(key, value);
   * const rest = scan.cursor === undefined ? undefined : users.scan({ cursor: scan.cursor });
   * rest; // => undefined
   */
  scan(options?: ScanOptions): Scan<V>;
  /**
   * Keys in order of position, as `scan` gives records, without decoding values. Cost: as `scan`.
   *
   * @example
   * const last = users.keys({ prefix: 'user:', reverse: true, limit: 1 });
   * await Array.fromAsync(last); // => ['user:1']
   */
  keys(options?: ScanOptions): KeyScan;
  /**
   * The number of records. Leaves are counted one by one, each as it is then. Cost: a small read of
   * each leaf. One whose latest changes lie in layers, or that holds records that expire, is read
   * as far as the range goes (after a million lone puts some 140 MB), and again only once it
   * changed, or if a record may expire.
   *
   * @example
   * await users.count({ prefix: 'user:' }); // => 1
   */
  count(options?: RangeOptions): Promise<number>;
  /**
   * Deletes the records within bounds, or all, and gives their number. Safe beside writers: each
   * record that existed throughout is deleted; one written meanwhile may stay. Once some are gone
   * it fails with `unknown` and their number, or with what forbids going on: `not_found`,
   * `conflict`, `corrupt`. Cost: a commit of each leaf, and a read of it where `count` takes one.
   *
   * @example
   * await users.clear({ from: 'user:1', through: 'user:9' }); // => 1
   */
  clear(options?: RangeOptions): Promise<number>;
  /**
   * Cursors of up to `count` scans (1 to 1,024) that together give each record once, in shares of
   * about one size. Each scan resumes by its own cursor, in any process. Cost: a read of each
   * branch above as many containers.
   *
   * @example
   * const cursors = await users.partitions(8);
   * const scans = cursors.map((cursor) => users.scan({ cursor }));
   * scans.length; // => 1
   */
  partitions(count: number, options?: CallOptions): Promise<string[]>;
  /**
   * Counters of the table in this store; they begin anew once no handle of it is in use.
   *
   * @example
   * users.stats().commits; // => 1
   */
  stats(): TableStats;
}
