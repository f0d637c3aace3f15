import { expect, test } from 'vitest';
import { type StoreLatency, withLatencyLogged } from '../../../functions/instance/store-latency.ts';
import type { Driver } from '../../../shared/store/index.ts';

/** A driver whose reads take as long as they are told, on a clock that stands still otherwise. */
function world() {
  let nowMs = 0;
  const lines: StoreLatency[] = [];
  const slow = { limits: {}, read: async () => [], list: () => Promise.reject(new Error('refused')) };
  const driver = withLatencyLogged(
    slow as unknown as Driver,
    (line) => lines.push(line),
    () => nowMs,
  );
  const read = async (tookMs: number): Promise<void> => {
    const answer = driver.read([], { timeoutMs: 1_000 });
    nowMs += tookMs;
    await answer;
  };
  return { lines, driver, read, pass: (ms: number) => (nowMs += ms) };
}

test('the first request that ends after a minute logs the times of all since the last line', async () => {
  const { lines, read, pass } = world();
  for (let at = 0; at < 98; at++) await read(3);
  await read(40);
  expect(lines).toEqual([]);
  pass(60_000);
  await read(7);
  expect(lines).toMatchObject([{ severity: 'INFO', storeRequests: 100, storeP50Ms: 3, storeP99Ms: 7 }]);
});

test('each line is of its own minute', async () => {
  const { lines, read, pass } = world();
  pass(60_000);
  await read(900);
  pass(60_000);
  await read(2);
  expect(lines.map(({ storeP99Ms, storeRequests }) => [Math.round(storeP99Ms), storeRequests])).toEqual([
    [900, 1],
    [2, 1],
  ]);
});

test('a refused request counts, and is refused as before', async () => {
  const { lines, driver, pass } = world();
  pass(60_000);
  await expect(driver.list('', undefined, 1, { timeoutMs: 1_000 })).rejects.toThrow('refused');
  expect(lines).toMatchObject([{ storeRequests: 1 }]);
});
