// Tables over HTTP, with shared handles. Only an admin's PUT creates a table.
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
import { codecOf, isoTime, MEDIA_TYPE_OF, parseJson } from '../http/content.ts';
import { rawPath } from '../http/paths.ts';
import { Problem, tableNotFound } from '../http/problem.ts';
import {
  BODY_PROBLEMS,
  type Call,
  jsonAnswer,
  READ_PROBLEMS,
  reply,
  replyJson,
  type RouteTable,
} from '../http/route.ts';
import { parsed } from '../http/validate.ts';

/** Values in and out as encoded bytes. */
export type RecordTable = Table<EncodedValue>;

/** The handles that an instance keeps open. To open a forgotten one again takes one request. */
const HANDLES_MAX = 1_000;

const TABLE_BODY_BYTES_MAX = 4_096;

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

const ORDER = z.enum(['hash', 'key']);

/** The body of a table's PUT. */
const TABLE_OPTIONS = z
  .strictObject({
    order: z.exactOptional(ORDER),
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

const GROUP_BY = { groupBy: z.exactOptional(z.string()) };
const TABLE = z.object({ name: z.string(), order: ORDER, ...GROUP_BY, createdAt: z.iso.datetime() });
const DAMAGED_TABLE = z.object({ name: z.string(), damage: z.string() });
const CREATED = z.strictObject({
  name: z.string(),
  order: ORDER,
  ...GROUP_BY,
  warnings: z.exactOptional(z.array(z.string())),
});
/** A drop cannot be undone, so a wrong path alone must not drop a table. */
const DROP_QUERY = z.strictObject({ confirm: z.string() });

export function tableRoutes(tables: Tables): RouteTable {
  return {
    'GET /v1/tables': {
      role: 'read',
      showsOwnTables: true,
      id: 'listTables',
      summary: 'The tables that the key opens; `damage` tells why one cannot be read.',
      answers: { 200: jsonAnswer('By name.', z.strictObject({ tables: z.array(z.union([TABLE, DAMAGED_TABLE])) })) },
      handle: async ({ bounds, opens }) =>
        replyJson({ tables: (await tables.list(bounds)).filter(({ name }) => opens(name)) }),
    },
    'GET /v1/tables/:table': {
      role: 'read',
      id: 'getTable',
      summary: 'One table, with the counters of this instance.',
      answers: { 200: jsonAnswer('The table.', z.extend(TABLE, { stats: z.looseObject({}) })) },
      problems: READ_PROBLEMS,
      handle: async ({ bounds, param }) => {
        const name = param('table');
        const stats = await tables.use(name, bounds, async (table) => table.stats());
        // Only the root has the time of creation, and only the listing shows it.
        const info = (await tables.list(bounds)).find((candidate) => candidate.name === name);
        if (info === undefined) throw tableNotFound(name);
        if (info.damage !== undefined) throw new StoreError('corrupt', info.damage, { table: name });
        return replyJson({ ...info, stats });
      },
    },
    'PUT /v1/tables/:table': {
      role: 'admin',
      audit: 'create',
      id: 'createTable',
      summary: 'Creates a table, by `{"order", "groupBy", "containers"}`.',
      body: { isOptional: true, bytesMax: TABLE_BODY_BYTES_MAX, content: { [MEDIA_TYPE_OF.json]: TABLE_OPTIONS } },
      answers: { 200: jsonAnswer('It existed, with this order.', CREATED), 201: jsonAnswer('It is new.', CREATED) },
      problems: ['conflict', 'unknown', 'corrupt', ...BODY_PROBLEMS],
      handle: (call) => putTable(tables, call),
    },
    'DELETE /v1/tables/:table': {
      role: 'admin',
      audit: 'drop',
      id: 'dropTable',
      summary: 'Removes a table and all that it holds; `confirm` is its name again.',
      query: DROP_QUERY,
      answers: { 204: { description: 'It is gone.' } },
      problems: ['table_not_found', 'unknown', 'corrupt'],
      handle: async ({ bounds, param, query }) => {
        const name = param('table');
        if (query['confirm'] !== name) throw new Problem('invalid', UNCONFIRMED);
        if (!(await tables.drop(name, bounds))) throw tableNotFound(name);
        return new Response(null, { status: 204 });
      },
    },
  };
}

const UNCONFIRMED = 'a drop loses all records of the table: add ?confirm= and the name of the table';

async function putTable(tables: Tables, call: Call): Promise<Response> {
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

const COUNTS = z.looseObject({ containers: z.int(), records: z.int(), bytes: z.int(), findingCount: z.int() });

const INSPECT_QUERY = z.strictObject({
  container: z.exactOptional(z.string()),
  key: z.exactOptional(z.string()),
});

/**
 * Show admins what is stored of a table, as long as the request lasts. There is no repair here,
 * because it needs a file for the data that it removes.
 */
export function lookRoutes(tables: Tables): RouteTable {
  return {
    'POST /v1/tables/:table/verify': {
      role: 'admin',
      id: 'verifyTable',
      summary: 'Reads all that is stored of a table, and tells what is wrong; `aborted` at the deadline.',
      answers: { 200: jsonAnswer('Counts and findings.', z.extend(COUNTS, { findings: z.array(z.looseObject({})) })) },
      problems: READ_PROBLEMS,
      handle: async (call) => replyJson(await walked(tables, call)),
    },
    'GET /v1/tables/:table/stats': {
      role: 'admin',
      id: 'tableStats',
      summary: 'Reads all that is stored of a table, and counts it; `aborted` at the deadline.',
      answers: { 200: jsonAnswer('Counts, also by level.', COUNTS) },
      problems: READ_PROBLEMS,
      handle: async (call) => {
        const { findings: _, ...counts } = await walked(tables, call);
        return replyJson(counts);
      },
    },
    'GET /v1/tables/:table/inspect': {
      role: 'admin',
      id: 'inspectContainer',
      summary: 'One container as it is stored: the root, the one named, or the leaf that owns a key.',
      query: INSPECT_QUERY,
      answers: {
        200: jsonAnswer('Its header and pages.', z.looseObject({ container: z.string(), version: z.string() })),
      },
      problems: READ_PROBLEMS,
      handle: async ({ query, bounds, param }) => {
        const store = await tables.store();
        return replyJson(await store.inspect(param('table'), { ...bounds, ...parsed(INSPECT_QUERY, query) }));
      },
    },
  };
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

/** Tells whether the store can be read. Anybody may ask: an instance tries once in five seconds. */
export function readyRoutes(store: StoreSource): RouteTable {
  return {
    'GET /v1/ready': {
      role: undefined,
      id: 'ready',
      summary: 'Whether the store can be read; an instance looks once in five seconds.',
      answers: { 200: jsonAnswer('It can.', z.object({ status: z.literal('ready') })) },
      problems: ['unavailable'],
      handle: readiness(store),
    },
  };
}

/** How long an answer is kept, good or bad. */
const KEPT_MS = 5_000;
const TIMEOUT_MS = 3_000;
/** No such table exists, which one read tells. */
const ABSENT = 'stowage-ready';

function readiness(store: StoreSource): () => Promise<Response> {
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
    await store.table(ABSENT, { create: false, timeoutMs: TIMEOUT_MS });
  } catch (cause) {
    if (cause instanceof StoreError && cause.code === 'not_found') return;
    const headers = { 'Retry-After': String(KEPT_MS / 1_000) };
    throw new Problem('unavailable', 'the store cannot be read now', { cause, headers });
  }
}
