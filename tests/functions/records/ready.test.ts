// The route that a cloud's monitor asks: whether the store can be read.
import { afterEach, expect, test, vi } from 'vitest';
import { memoryDriver, type MemoryFault } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { expectProblem } from '../suite/http-client.ts';
import { served } from './served.ts';

afterEach(() => void vi.useRealTimers());

function asked(fault: () => MemoryFault | undefined) {
  let reads = 0;
  const faults = (): MemoryFault | undefined => {
    reads += 1;
    return fault();
  };
  const store = openStore({ driver: memoryDriver({ faults }) });
  const { send } = served(store);
  return { ask: () => send('/v1/ready'), reads: () => reads };
}

test('the route reads the store once for all who ask within five seconds, without a key', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { ask, reads } = asked(() => undefined);
  const answers = await Promise.all([ask(), ask(), ask()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await answers[0].text()).toBe('{"status":"ready"}');
  vi.advanceTimersByTime(4_999);
  expect((await ask()).status).toBe(200);
  expect(reads()).toBe(1);
  vi.advanceTimersByTime(1);
  expect((await ask()).status).toBe(200);
  expect(reads()).toBe(2);
});

test('the route answers 503 where the store denies access, and reads it again after five seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let fault: MemoryFault | undefined = { refuse: 'denied' };
  const { ask, reads } = asked(() => fault);
  const problem = await expectProblem(await ask(), 503, 'unavailable');
  expect(problem.detail).toBe('the store cannot be read now');
  const again = await ask();
  expect([again.status, again.headers.get('Retry-After')]).toEqual([503, '5']);
  expect(reads()).toBe(1);
  fault = undefined;
  vi.advanceTimersByTime(5_000);
  expect((await ask()).status).toBe(200);
});
