import { expect, test } from 'vitest';
import { memoryState } from '../../../shared/drivers/memory.ts';
import { calmProvider } from '../../../shared/model/data/calm.ts';
import { ProviderParameters } from '../../../shared/model/data/parameters.ts';
import { modelledDriver } from '../../../shared/model/service/driver.ts';
import { PlainTable, plainState } from '../../../shared/model/service/plain.ts';
import { ModelledService } from '../../../shared/model/service/service.ts';
import { Scheduler } from '../../../shared/model/time/scheduler.ts';
import { entityId, partName } from '../../support/ids.ts';

function calm(provider: 'datastore' | 'azure-tables') {
  const scheduler = new Scheduler(1);
  const service = new ModelledService({
    scheduler,
    parameters: new ProviderParameters(calmProvider(provider)),
    seed: 1,
  });
  return { scheduler, service };
}

test('a write shows in a read that is sent after its reply, and both take time', async () => {
  const { scheduler, service } = calm('datastore');
  const driver = modelledDriver(service, memoryState());
  const id = entityId('a');
  const work = async () => {
    const parts = [{ name: partName('h'), bytes: Buffer.from('x'), chunksBefore: 0 }];
    const [outcome] = await driver.write([{ kind: 'insert', id, parts }], { timeoutMs: 1_000 });
    expect(outcome?.kind).toBe('written');
    const wroteMs = scheduler.nowMs;
    const [entity] = await driver.read([{ id, parts: 'all' }], { timeoutMs: 1_000 });
    expect(entity?.parts.size).toBe(1);
    expect(wroteMs).toBeGreaterThan(0);
    expect(scheduler.nowMs).toBeGreaterThan(wroteMs);
  };
  await scheduler.run(work(), 1_000);
});

test('of conditional writers of one record all get through in the end', async () => {
  const { scheduler, service } = calm('azure-tables');
  const table = new PlainTable(service, plainState(), (key) => key);
  const work = Promise.all(Array.from({ length: 4 }, () => table.putIfUnchanged('a', 500)));
  await scheduler.run(work, 10_000);
  expect((await work).toSorted((a, b) => a - b)[0]).toBe(0);
});
