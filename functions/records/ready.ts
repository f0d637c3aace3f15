// Tells whether the store can be read. Anybody may ask: an instance tries once in five seconds.
import { StoreError } from '../../shared/store/index.ts';
import { Problem } from '../http/problem.ts';
import { reply } from '../http/route.ts';
import type { StoreSource } from './table-handlers.ts';

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
