// How many requests of a store are in flight, compared with its driver's `inFlightMax`.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { openStore } from '../../../shared/store/index.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

test('a read whose reply is lost counts as in flight until it is answered, though it was sent again', async () => {
  const runtime = new VirtualRuntime();
  const near = memoryDriver({ limits: { readsMax: 1, inFlightMax: 4 } });
  let [sent, now, most] = [0, 0, 0];
  const driver: Driver = {
    ...near,
    read: async (requests, options) => {
      most = Math.max(most, (now += 1));
      await runtime.sleep((sent += 1) % 2 === 0 ? 10 : 10_000);
      now -= 1;
      return near.read(requests, options);
    },
  };
  const store = openStore({ driver, runtime });
  const table = await runtime.run(store.table<number>('t'));
  await runtime.run(table.put('k', 1));
  for (let count = 0; count < 40; count += 1) expect((await runtime.run(table.get('k')))?.value).toBe(1);
  // The one read beyond is the table's second request for the same reply.
  expect(most).toBeLessThanOrEqual(5);
  await runtime.run(store.close());
});

test('a store has at most inFlightMax reads and at most inFlightMax commits in flight', async () => {
  const runtime = new VirtualRuntime();
  const near = memoryDriver({ limits: { readsMax: 1, inFlightMax: 12, lane: (id) => id } });
  const [now, most] = [
    { read: 0, write: 0 },
    { read: 0, write: 0 },
  ];
  const counted = (kind: 'read' | 'write') => async (): Promise<void> => {
    most[kind] = Math.max(most[kind], (now[kind] += 1));
    await runtime.sleep(10);
    now[kind] -= 1;
  };
  const driver: Driver = {
    ...near,
    read: (requests, options) => counted('read')().then(() => near.read(requests, options)),
    write: (writes, options) => counted('write')().then(() => near.write(writes, options)),
  };
  const store = openStore({ driver, runtime });
  const table = await runtime.run(store.table<number>('t', { containers: 64 }));
  const call = async (caller: number): Promise<void> => {
    for (let count = 0; count < 40; count += 1) {
      await table.put(`k${caller}-${count}`, count);
      await table.get(`k${caller}-${count}`);
    }
  };
  await runtime.run(Promise.all(Array.from({ length: 60 }, (_, caller) => call(caller))));
  expect(most).toEqual({ read: 12, write: 12 });
});
