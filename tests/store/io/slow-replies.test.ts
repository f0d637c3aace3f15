// Large reads over a slow link take the time of their bytes, and bring each byte once.
import { beforeAll, expect, test } from 'vitest';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import { type Driver, type Entity, SILENCE_MS } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { openStore } from '../../../shared/store/index.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const RECORDS = 4_000;
const RECORD_BYTES = 3_000;
const KEYS = Array.from({ length: RECORDS }, (_, number) => `k${number}`);
const LINK_BYTES_PER_S = 2 * 1024 * 1024;
const PIECE_BYTES = 16 * 1024;
const LIMITS = { readsMax: 1_000 };

const state = memoryState();

beforeAll(async () => {
  const runtime = new VirtualRuntime();
  const store = openStore({ driver: memoryDriver({ state, limits: LIMITS }), runtime, compression: 'none' });
  const table = await runtime.run(store.table<string>('t'));
  await runtime.run(table.putMany(KEYS.map((key) => ({ key, value: key.padEnd(RECORD_BYTES, '.') }))));
  await runtime.run(store.close());
});

/** The table behind a link whose bandwidth the replies share piece by piece, as in HTTP/2. */
async function behindSlowLink() {
  const runtime = new VirtualRuntime();
  const driver = memoryDriver({ state, limits: LIMITS });
  const link = { freeMs: 0, bytes: 0, largestBytes: 0 };
  const pass = async (bytes: number, untilMs: number): Promise<void> => {
    const nowMs = runtime.monotonicMs();
    link.freeMs = Math.max(link.freeMs, nowMs) + (bytes / LINK_BYTES_PER_S) * 1_000;
    link.bytes += bytes;
    const endMs = Math.min(untilMs, nowMs + SILENCE_MS);
    await runtime.sleep(Math.min(link.freeMs, endMs) - nowMs);
    if (link.freeMs > endMs) throw new StoreError('unavailable', 'said by a test');
  };
  const read: Driver['read'] = async (requests, options) => {
    const untilMs = runtime.monotonicMs() + options.timeoutMs;
    const entities = await driver.read(requests, options);
    const bytes = bytesIn(entities);
    link.largestBytes = Math.max(link.largestBytes, bytes);
    for (let left = bytes; left > 0; left -= PIECE_BYTES) await pass(Math.min(left, PIECE_BYTES), untilMs);
    return entities;
  };
  const store = openStore({ driver: { ...driver, read }, runtime });
  const table = await runtime.run(store.table<string>('t'));
  return { runtime, table, link };
}

function bytesIn(entities: readonly (Entity | undefined)[]): number {
  const parts = entities.flatMap((entity) => (entity === undefined ? [] : [...entity.parts.values()]));
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

test('getMany over a slow link reads every byte once, in requests of about a megabyte', async () => {
  const { runtime, table, link } = await behindSlowLink();
  const outcomes = await runtime.run(table.getMany(KEYS));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['found']));
  expect(link.bytes).toBeGreaterThan(RECORDS * RECORD_BYTES);
  expect(link.bytes).toBeLessThan(1.1 * RECORDS * RECORD_BYTES);
  expect(link.largestBytes).toBeLessThan(2 * 1024 * 1024);
});

test('getMany over a slow link ends at its deadline', async () => {
  const { runtime, table } = await behindSlowLink();
  const begunMs = runtime.monotonicMs();
  const outcomes = await runtime.run(table.getMany(KEYS, { timeoutMs: 2_000 }));
  expect(runtime.monotonicMs() - begunMs).toBeLessThanOrEqual(2_000);
  const statuses = new Set(outcomes.map(({ status }) => status));
  expect(statuses).toContain('failed');
  expect(statuses).not.toContain('absent');
});
