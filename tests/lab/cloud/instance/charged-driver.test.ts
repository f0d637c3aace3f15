import { expect, test } from 'vitest';
import { memoryDriver } from '../../../../shared/drivers/memory.ts';
import type { ContainerCosts } from '../../../../shared/lab/cloud/data/processor.ts';
import { chargedDriver } from '../../../../shared/lab/cloud/instance/charged-driver.ts';
import { Processor } from '../../../../shared/lab/cloud/instance/instance.ts';
import { Scheduler } from '../../../../shared/lab/kit/scheduler.ts';
import { entityId, partName } from '../../../support/ids.ts';

const NOTHING = { alone: 0, busy: 0 };

const COSTS: ContainerCosts = {
  operation: { get: NOTHING, put: NOTHING, update: NOTHING, getManyRecord: 0, putManyRecord: 0 },
  request: { read: { alone: 1_000, busy: 1_000 }, write: { alone: 3_000, busy: 3_000 } },
  entity: { read: 100, written: 200 },
  kib: { read: 10, written: 50 },
};

test('each request costs what the table says for it, its entities and its bytes', async () => {
  const scheduler = new Scheduler(1);
  const processor = new Processor(scheduler);
  const driver = chargedDriver(memoryDriver(), processor, COSTS);
  const id = entityId('a');
  const parts = [{ name: partName('h'), bytes: new Uint8Array(2_048), chunksBefore: 0 }];
  const work = async (): Promise<void> => {
    await driver.write([{ kind: 'insert', id, parts }], { timeoutMs: 1_000 });
    expect(processor.busyMs).toBeCloseTo(3 + 0.2 + 2 * 0.05, 9);
    await driver.read(
      [
        { id, parts: 'all' },
        { id: entityId('b'), parts: 'all' },
      ],
      { timeoutMs: 1_000 },
    );
    expect(processor.busyMs).toBeCloseTo(3.3 + 1 + 2 * 0.1 + 2 * 0.01, 9);
  };
  await scheduler.run(work(), 100);
  expect(scheduler.nowMs).toBeCloseTo(4.52, 9);
});
