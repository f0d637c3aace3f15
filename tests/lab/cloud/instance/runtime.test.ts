// A store inside a modelled instance learns how busy its processor is.
import { expect, test } from 'vitest';
import { Processor } from '../../../../shared/lab/cloud/instance/instance.ts';
import { InstanceRuntime } from '../../../../shared/lab/cloud/instance/runtime.ts';
import { Scheduler } from '../../../../shared/lab/kit/scheduler.ts';

test('an instance is as busy as its processor was since it was asked before', async () => {
  const scheduler = new Scheduler(1);
  const processor = new Processor(scheduler);
  const runtime = new InstanceRuntime(scheduler, () => 0, processor);
  const seen: number[] = [];
  const ask = async (): Promise<void> => {
    seen.push(runtime.busyShare());
    await processor.spend(80_000);
    await scheduler.after(120);
    seen.push(runtime.busyShare());
    await scheduler.after(200);
    seen.push(runtime.busyShare());
  };
  await scheduler.run(ask(), 1_000);
  expect(seen).toEqual([0, 0.4, 0]);
});
