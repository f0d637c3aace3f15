// Tables over HTTP, with shared handles. Only an admin's PUT creates a table. Looking at what is
// stored ends with the request; there is no repair here, as it needs a file for what it removes.
import { LRUCache } from 'lru-cache';
import * as z from 'zod/mini';
import {
  type CallOptions,
  type EncodedValue,
  type Store,
  StoreError,
  type Table,
  type TableOptions,
  type VerifyReport,
} from '../../shared/store/index.ts';
import { codecOf, parseJson } from '../http/content.ts';
import { rawPath } from '../http/paths.ts';
import { Problem, tableNotFound } from '../http/problem.ts';
import { type Call, reply, replyJson } from '../http/route.ts';
import { parsed } from '../http/validate.ts';

/** Values in and out as encoded bytes. */
export type RecordTable = Table<EncodedValue>;

/** The handles that an instance keeps open. To open a forgotten one again takes one request. */
const HANDLES_MAX = 1_000;

export const TABLE_BODY_BYTES_MAX = 4_096;

/** Opens the store once; every request awaits the same one. */
export type StoreSource = () => Promise<Store>;

export class Tables {
  readonly store: StoreSource;
  readonly #options: Pick<TableOptions, 'containerBytesMax'> & { readonly codec: 'encoded' };
  readonly #handles = new LRUCache<string, RecordTable>({ max: HANDLES_MAX });

  constructor({ store, containerBytesMax }: { readonly store: StoreSource; readonly containerBytesMax?: number }) {
    this.store = store;
    this.#options = { codec: 'encoded', ...(containerBytesMax === undefined ? {} : { containerBytesMax }) };
  }

  /** A handle stays valid if its table is created again; that of a gone table is forgotten. */
  async use<T>(name: string, bounds: CallOptions, use: (table: RecordTable) => Promise<T>): Promise<T> {
    const table = this.#handles.get(name) ?? (await this.#open(name, bounds));
    try {
      return await use(table);
    } catch (error) {
      if (error instanceof StoreError && error.code === 'not_found') this.#handles.delete(name);
      throw error;
    }
  }

  async #open(name: string, bounds: CallOptions): Promise<RecordTable> {
    const store = await this.store();
    const table = await store.table(name, { ...bounds, ...this.#options, create: false });
    this.#handles.set(name, table);
    return table;
  }

  async create(name: string, options: z.output<typeof TABLE_OPTIONS>, bounds: CallOptions): Promise<RecordTable> {
    this.#handles.delete(name);
    const store = await this.store();
    return await store.table(name, { ...bounds, ...options, ...this.#options });
  }

  async drop(name: string, bounds: CallOptions): Promise<boolean> {
    this.#handles.delete(name);
    return await (await this.store()).drop(name, bounds);
  }

  async list(bounds: CallOptions) {
    const tables = await (await this.store()).tables(bounds);
    return tables.map(({ name, order, groupBy, createdAtMs, damage }) => ({
      name,
      order,
      groupBy,
      createdAt: createdAtMs === undefined ? undefined : isoTime(createdAtMs),
      damage,
    }));
  }
}

/** ISO 8601, UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The body of a table's PUT. */
export const TABLE_OPTIONS = z
  .strictObject({
    order: z.exactOptional(z.enum(['hash', 'key'])),
    groupBy: z.exactOptional(z.string().check(z.regex(/^[!-~]$/))),
    containers: z.exactOptional(z.int().check(z.minimum(1), z.maximum(256))),
  })
  .check(
    z.refine(({ order, groupBy }) => groupBy === undefined || order === 'key', {
      path: ['groupBy'],
      error: 'it needs the order "key": give both',
    }),
    z.refine(({ order, containers = 1 }) => order !== 'key' || containers === 1, {
      path: ['containers'],
      error: 'a table of order "key" begins with one: leave it out',
    }),
  );

export async function listTables(tables: Tables, { bounds, opens }: Call): Promise<Response> {
  return replyJson({ tables: (await tables.list(bounds)).filter(({ name }) => opens(name)) });
}

export async function getTable(tables: Tables, { bounds, param }: Call): Promise<Response> {
  const name = param('table');
  const stats = await tables.use(name, bounds, async (table) => table.stats());
  // Only the root has the time of creation, and only the listing shows it.
  const info = (await tables.list(bounds)).find((candidate) => candidate.name === name);
  if (info === undefined) throw tableNotFound(name);
  if (info.damage !== undefined) throw new StoreError('corrupt', info.damage, { table: name });
  return replyJson({ ...info, stats });
}

export async function putTable(tables: Tables, call: Call): Promise<Response> {
  const { request, bounds } = call;
  const bytes = await call.body();
  if (bytes.length > 0) codecOf(request.headers.get('Content-Type'), ['json']);
  const options = bytes.length === 0 ? {} : parsed(TABLE_OPTIONS, parseJson(bytes));
  const { name, order, groupBy, isNew } = await tables.create(call.param('table'), options, bounds);
  const isIgnored = !isNew && options.containers !== undefined;
  const body = JSON.stringify({ name, order, groupBy, ...(isIgnored ? { warnings: [CONTAINERS_IGNORED] } : {}) });
  if (!isNew) return reply('application/json', body);
  return reply('application/json', body, { Location: rawPath(request.url) }, 201);
}

/** Also for a create that is sent again, as the first number of containers is not known. */
const CONTAINERS_IGNORED =
  'containers applies when the table is created: it existed already, perhaps by this request sent before, and stays as it is';

/** A drop cannot be undone, so a wrong path alone must not drop a table. */
export const DROP_QUERY = z.strictObject({ confirm: z.string() });

export async function deleteTable(tables: Tables, { bounds, param, query }: Call): Promise<Response> {
  const name = param('table');
  if (query['confirm'] !== name)
    throw new Problem('invalid', 'a drop loses all records of the table: add ?confirm= and the name of the table');
  if (!(await tables.drop(name, bounds))) throw tableNotFound(name);
  return new Response(null, { status: 204 });
}

export const INSPECT_QUERY = z.strictObject({
  container: z.exactOptional(z.string()),
  key: z.exactOptional(z.string()),
});

export async function verify(tables: Tables, call: Call): Promise<Response> {
  return replyJson(await walked(tables, call));
}

export async function stats(tables: Tables, call: Call): Promise<Response> {
  const { findings: _, ...counts } = await walked(tables, call);
  return replyJson(counts);
}

async function walked({ store }: Tables, { bounds, param }: Call): Promise<VerifyReport> {
  try {
    return await (await store()).verify(param('table'), bounds);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'aborted')) throw error;
    const detail = 'the table is too large to be read within the deadline: take `stowage verify` or `stowage stats`';
    throw new Problem('aborted', detail, { retryable: false, cause: error });
  }
}

export async function inspect(tables: Tables, { query, bounds, param }: Call): Promise<Response> {
  const store = await tables.store();
  return replyJson(await store.inspect(param('table'), { ...bounds, ...parsed(INSPECT_QUERY, query) }));
}

/** How long an answer is kept, good or bad. */
const KEPT_MS = 5_000;
const TIMEOUT_MS = 3_000;
/** No such table exists, which one read tells. */
const TABLE = 'stowage-ready';

export function readiness(store: StoreSource): () => Promise<Response> {
  let last: { readonly sinceMs: number; readonly looking: Promise<void> } | undefined;
  return async () => {
    const sinceMs = performance.now();
    if (last === undefined || sinceMs - last.sinceMs >= KEPT_MS) last = { sinceMs, looking: look(store) };
    await last.looking;
    return reply('application/json', '{"status":"ready"}', { 'Cache-Control': 'no-store' });
  };
}

/** One read, tried again within its time. Throws the Problem `unavailable`. */
async function look(source: StoreSource): Promise<void> {
  try {
    const store = await source();
    await store.table(TABLE, { create: false, timeoutMs: TIMEOUT_MS });
  } catch (cause) {
    if (cause instanceof StoreError && cause.code === 'not_found') return;
    const headers = { 'Retry-After': String(KEPT_MS / 1_000) };
    throw new Problem('unavailable', 'the store cannot be read now', { cause, headers });
  }
}
