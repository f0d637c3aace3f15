// Shows admins what is stored of a table. A walk through the whole table ends with the request.
// There is no repair here, because it needs a file for the data that it removes.
import * as z from 'zod/mini';
import { type Store, StoreError, type VerifyReport } from '../../shared/store/index.ts';
import { Problem } from '../http/problem.ts';
import { type Call, replyJson } from '../http/route.ts';
import { parsed } from '../http/validate.ts';

export const INSPECT_QUERY = z.strictObject({
  container: z.exactOptional(z.string()),
  key: z.exactOptional(z.string()),
});

export async function verify(store: Store, call: Call): Promise<Response> {
  return replyJson(await walked(store, call));
}

export async function stats(store: Store, call: Call): Promise<Response> {
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

export async function inspect(store: Store, { query, bounds, param }: Call): Promise<Response> {
  return replyJson(await store.inspect(param('table'), { ...bounds, ...parsed(INSPECT_QUERY, query) }));
}
