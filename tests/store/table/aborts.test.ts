// An aborted call rejects as fetch's callers expect, and hides no write that may have taken effect.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore, StoreError } from '../../../shared/store/index.ts';
import { opened } from '../rules/table-steps.ts';
import { isWriteOf } from '../rules/world.ts';

test.each([
  ['AbortError', 'the call was aborted', undefined],
  ['AbortError', 'the call was aborted', new Error('enough')],
  ['AbortError', 'the call was aborted', 'a text'],
  ['TimeoutError', 'the deadline passed', new DOMException('timed out', 'TimeoutError')],
])('each call that a signal ended has the name %s and says that %s: %s', async (name, told, reason) => {
  await using store = openStore({ driver: memoryDriver() });
  const table = await store.table<number>('things');
  const signal = AbortSignal.abort(reason);
  const calls = [
    () => table.get('k', { signal }),
    () => table.put('k', 1, { signal }),
    () => table.update('k', () => 1, { signal }),
    () => table.count({ signal }),
    () => store.table('others', { signal }),
    () => store.tables({ signal }),
  ];
  for (const call of calls) {
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StoreError);
    const message = expect.stringContaining(told) as string;
    expect(error).toMatchObject({ name, message, code: 'aborted', retryable: true, cause: signal.reason as unknown });
  }
  await expect(table.put('k', 1, { signal })).rejects.toThrow(`${told} before anything was written`);
  const [outcome] = await table.putMany([{ key: 'k', value: 1 }], { signal });
  expect(outcome).toMatchObject({ status: 'failed', error: { name, code: 'aborted' } });
  expect(await table.has('k')).toBe(false);
});

test('a call whose deadline passed has the name TimeoutError', async () => {
  const { world, process, table } = await opened();
  process.rule(() => ({ reply: new Promise(() => undefined) }));
  await expect(world.run(table.get('k', { timeoutMs: 100 }))).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a call aborted while its write is under way is unknown by code and name, and keeps the reason', async () => {
  const { world, process, table } = await opened();
  const ending = new AbortController();
  process.once(isWriteOf('patch'), () => {
    ending.abort();
    return { reply: new Promise(() => undefined) };
  });
  const error: unknown = await world
    .run(table.put('k', 'v', { signal: ending.signal }))
    .catch((caught: unknown) => caught);
  const cause: unknown = ending.signal.reason;
  expect(error).toMatchObject({ name: 'StoreError', code: 'unknown', key: 'k', cause });
  expect((await world.run(table.get('k')))?.value).toBe('v');
});

test('a bulk call that outlives close sends nothing more: what it had not sent is aborted', async () => {
  const { world, process, table } = await opened<number>();
  process.rule((call) => (call.kind === 'write' ? new Promise(() => undefined) : undefined));
  const writing = table.putMany(Array.from({ length: 6_000 }, (_, index) => ({ key: `k${index}`, value: 1 })));
  await world.run(process.store.close());
  const codes = (await world.run(writing)).map((outcome) => outcome.status === 'failed' && outcome.error.code);
  expect(new Set(codes)).toEqual(new Set(['aborted']));
  expect(codes).toHaveLength(6_000);
});
