// A store's requests under way, reads and commits, against what its driver allows.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { openStore } from '../../../shared/store/index.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

test('never more reads, nor more commits, are under way than the driver has connections for', async () => {
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
