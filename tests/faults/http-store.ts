// The store as HTTP callers have it: calls become requests, problems StoreErrors.
// A connection that breaks leaves a write unknown.
import { type DeleteOutcome, type Entry, StoreError, type StoreErrorCode } from '../../shared/store/index.ts';
import type { ProblemBody } from '../../functions/http/problem.ts';
import { KEYS } from '../functions/keys.ts';
import type { CalledTable, Caller, Value } from '../simulation/caller.ts';
import { scanOf } from './worker-life.ts';

/** Beyond the host's own deadline. */
const TIMEOUT_MS = 60_000;
/** Codes that HTTP alone has, as the store would put them. */
const CODES: Partial<Record<string, StoreErrorCode>> = {
  precondition_failed: 'conflict',
  table_not_found: 'not_found',
  body_timeout: 'aborted',
  internal: 'unknown',
};

interface Call {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly headers?: Record<string, string | undefined>;
  readonly body?: unknown;
  readonly timeoutMs?: number | undefined;
}

type Send = (path: string, call?: Call) => Promise<Response>;

interface Operation {
  readonly op: 'get' | 'put' | 'delete';
  readonly key: string;
}

interface Outcome {
  readonly status: string;
  readonly key: string;
  readonly problem?: ProblemBody;
}

export function httpStore(url: string, gate: Record<string, string>): Caller['store'] {
  const send: Send = (path, call = {}) => sent(url + path, gate, call);
  return {
    async table(name, options) {
      await send(`/v1/tables/${name}`, { method: 'PUT', body: options });
      return tableOf(send, `/v1/tables/${name}`) as never;
    },
    tables: async () => [],
    drop: () => Promise.reject(new TypeError('nobody drops here')),
    vacuum: () => Promise.resolve({ left: 0, busy: 0, purged: 0, merged: 0 } as never),
    verify: () => Promise.resolve({ findings: [] } as never),
    repair: () => Promise.reject(new TypeError('nobody repairs here')),
  };
}

function tableOf(send: Send, path: string): CalledTable {
  const recordPath = (key: string): string => `${path}/records/${encodeURIComponent(key)}`;
  const batch = async (operations: readonly Operation[], timeoutMs?: number): Promise<never[]> => {
    try {
      const response = await send(`${path}/batch`, { method: 'POST', body: { operations }, timeoutMs });
      const { outcomes } = (await response.json()) as { outcomes: Outcome[] };
      return outcomes.map((one) =>
        one.problem === undefined ? one : { ...one, error: errorOf(one.problem) },
      ) as never[];
    } catch (error) {
      return operations.map(({ key, op }) => ({ status: 'failed', key, error: ofOne(op, error) })) as never[];
    }
  };
  return {
    async get(key, { timeoutMs, maxAgeMs } = {}) {
      const headers = maxAgeMs === undefined ? {} : { 'Cache-Control': `max-age=${Math.floor(maxAgeMs / 1_000)}` };
      const response = await send(recordPath(key), { headers, timeoutMs });
      if (response.status === 404) return undefined;
      return { key, value: (await response.json()) as Value, version: versionOf(response)!, expiresAtMs: undefined };
    },
    async put(key, body, { ifAbsent, ifVersion, timeoutMs } = {}) {
      const headers = {
        'If-None-Match': ifAbsent ? '*' : undefined,
        'If-Match': ifVersion === undefined ? undefined : `"${ifVersion}"`,
      };
      return { version: versionOf(await send(recordPath(key), { method: 'PUT', headers, body, timeoutMs }))! };
    },
    async delete(key, { ifVersion, timeoutMs } = {}) {
      // A DELETE does not tell whether there was a record, unless it has a condition.
      if (ifVersion === undefined) return deletedBy(await batch([{ op: 'delete', key }], timeoutMs));
      await send(recordPath(key), { method: 'DELETE', headers: { 'If-Match': `"${ifVersion}"` }, timeoutMs });
      return { deleted: true, version: undefined };
    },
    getMany: (keys, { timeoutMs } = {}) => batch(keys.map(operation('get')), timeoutMs),
    putMany: (items, { timeoutMs } = {}) => batch(items.map(operation('put')), timeoutMs),
    deleteMany: (items, { timeoutMs } = {}) => batch(items.map(operation('delete')), timeoutMs),
    update: () => Promise.reject(new TypeError('no update over HTTP')),
    batch: () => Promise.reject(new TypeError('no batch of a group over HTTP')),
    clear: () => Promise.reject(new TypeError('no clear over HTTP')),
    scan: ({ limit = 1_000, cursor, timeoutMs } = {}) =>
      scanOf(async () => {
        const query = cursor === undefined ? '' : `&cursor=${cursor}`;
        const page = await (await send(`${path}/records?limit=${limit}${query}`, { timeoutMs })).json();
        const { records, ...rest } = page as { records: Entry<Value>[]; cursor?: string };
        return { entries: records, ...rest };
      }) as ReturnType<CalledTable['scan']>,
  };
}

function operation(op: Operation['op']) {
  return (item: string | Omit<Operation, 'op'>): Operation => ({
    op,
    ...(typeof item === 'string' ? { key: item } : item),
  });
}

function versionOf(response: Response): string | undefined {
  return response.headers.get('ETag')?.replaceAll('"', '');
}

function deletedBy([outcome]: readonly DeleteOutcome[]): { deleted: boolean; version: string | undefined } {
  if (outcome!.status === 'failed') throw outcome!.error;
  return {
    deleted: outcome!.status === 'deleted',
    version: outcome!.status === 'deleted' ? outcome!.version : undefined,
  };
}

/** Absence of a record is an answer; any other problem is thrown as the error it is. */
async function sent(url: string, gate: Record<string, string>, { method = 'GET', ...call }: Call): Promise<Response> {
  const wanted = {
    ...gate,
    Authorization: `Bearer ${KEYS.admin}`,
    'Content-Type': call.body === undefined ? undefined : 'application/json',
    'Stowage-Timeout-Ms': call.timeoutMs?.toString(),
    ...call.headers,
  };
  const headers = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  const body = call.body === undefined ? null : JSON.stringify(call.body);
  try {
    const response = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    // Whole, so that a connection that breaks in its midst is found here.
    const bytes = await response.arrayBuffer();
    const whole = new Response(bytes.byteLength === 0 ? null : bytes, response);
    if (response.ok) return whole;
    const problem = (await whole.json()) as ProblemBody;
    if (problem.code === 'record_not_found') return whole;
    throw errorOf(problem);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const isUnsent = ((error as Error).cause as { code?: string } | undefined)?.code === 'ECONNREFUSED';
    throw new StoreError(isUnsent || method === 'GET' ? 'unavailable' : 'unknown', 'the connection broke', {
      cause: error,
    });
  }
}

/** A batch that broke is that of each of its operations; a get has no fate. */
function ofOne(op: Operation['op'], error: unknown): unknown {
  const isLost = error instanceof StoreError && error.code === 'unknown' && op === 'get';
  return isLost ? new StoreError('unavailable', error.message, { cause: error }) : error;
}

function errorOf({ code, detail, retryable }: ProblemBody): StoreError {
  return new StoreError(CODES[code] ?? (code as StoreErrorCode), detail, { retryable });
}
