// Looks into what is stored of a table, for admins. A walk through all of it ends with the request.
import * as z from 'zod/mini';
import { type Store, StoreError, type VerifyReport } from '../../shared/store/index.ts';
import { type Call, replyJson, type Route } from '../http/app.ts';
import { Problem } from '../http/problem.ts';
import { parsed } from '../http/validate.ts';
import type { StoreSource } from './tables.ts';

const INSPECT_QUERY = z.strictObject({
  container: z.exactOptional(z.string()),
  key: z.exactOptional(z.string()),
});

/** Repairs are the command line's: they want a file for all that they take away. */
export function lookRoutes(store: StoreSource): Route[] {
  const path = '/v1/tables/:table';
  const get = { method: 'GET', role: 'admin' } as const;
  return [
    { method: 'POST', path: `${path}/verify`, role: 'admin', handle: async (call) => verify(await store(), call) },
    { ...get, path: `${path}/stats`, handle: async (call) => stats(await store(), call) },
    { ...get, path: `${path}/inspect`, query: INSPECT_QUERY, handle: async (call) => inspect(await store(), call) },
  ];
}

async function verify(store: Store, call: Call): Promise<Response> {
  return replyJson(await walked(store, call));
}

async function stats(store: Store, call: Call): Promise<Response> {
  const { findings: _, ...counts } = await walked(store, call);
  return replyJson(counts);
}

async function walked(store: Store, { bounds, param }: Call): Promise<VerifyReport> {
  try {
    return await store.verify(param('table'), bounds);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'aborted')) throw error;
    const detail = 'the table is too large to be read within the deadline: take `stowage verify` or `stowage stats`';
    throw new Problem('aborted', detail, { retryable: false, cause: error });
  }
}

async function inspect(store: Store, { query, bounds, param }: Call): Promise<Response> {
  return replyJson(await store.inspect(param('table'), { ...bounds, ...parsed(INSPECT_QUERY, query) }));
}
