// Whether the store can be read. Anybody may ask: an instance looks once in five seconds.
import { StoreError } from '../../shared/store/index.ts';
import { Problem } from '../http/problem.ts';
import { reply } from '../http/route.ts';
import type { StoreSource } from './table-handlers.ts';

/** An answer holds so long, a bad one too. */
const KEPT_MS = 5_000;
const TIMEOUT_MS = 3_000;
/** Nobody's table: to learn that it is not there is one read. */
const TABLE = 'stowage-ready';

/** Answers whoever asks. */
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
