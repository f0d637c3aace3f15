// A modelled cloud runs the comparison's own cells.
import { describe, expect, test } from 'vitest';
import { memoryState } from '../../../shared/drivers/memory.ts';
import { ProviderParameters } from '../../../shared/lab/cloud/data/parameters.ts';
import { Instance } from '../../../shared/lab/cloud/instance/instance.ts';
import { PROVIDER_DATA, PROCESSOR_DATA } from '../../../shared/lab/cloud/run/providers.ts';
import { ModelledCloud } from '../../../shared/lab/cloud/target.ts';
import { type Layout, LAYOUTS, type Provider, PROVIDERS, WORKLOADS } from '../../../shared/lab/kit/dimensions.ts';
import { type CellRequestInput, type CellResult, cellResultSchema } from '../../../shared/lab/load/cell.ts';
import { prepareDataset, removeDataset } from '../../../shared/lab/load/dataset.ts';
import { runCell } from '../../../shared/lab/load/run.ts';
import { keyOf } from '../../../shared/lab/work/keys.ts';
import { whyNot } from '../../../shared/lab/work/workloads.ts';
import { loadHash } from '../../../shared/store/system/hash.ts';
import { cell, instanceOf, PLACE } from '../fakes.ts';

const { signal } = new AbortController();

async function cloudOf(provider: Provider) {
  await loadHash();
  const parameters = new ProviderParameters(PROVIDER_DATA[provider]);
  const cloud = new ModelledCloud(parameters, 1, PROCESSOR_DATA.costs[provider]);
  const datasets = cloud.targets(new Instance(0, cloud.scheduler, 0), memoryState());
  const runtime = cloud.loadRuntime();
  const targets = { ...datasets, place: { ...PLACE, provider }, instance: instanceOf(runtime) };
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    await cloud.scheduler.run(work, 1e7);
    return work;
  };
  return { targets, runtime, inTime };
}

async function ran(provider: Provider, input: Partial<CellRequestInput>): Promise<CellResult> {
  const { targets, runtime, inTime } = await cloudOf(provider);
  const hasLargeCalls = input.workload === 'load' || input.layout?.endsWith('-batch') === true;
  const durationMs = hasLargeCalls ? 100 : 1_000;
  const request = cell({ records: 1_000, insertFrom: 1_000, durationMs, callers: 4, ...input });
  if (request.workload !== 'load') await inTime(prepareDataset(request, targets, { signal, runtime }));
  return inTime(runCell(request, targets, { signal, runtime }));
}

describe.each(PROVIDERS)('%s', (provider) => {
  describe.each(LAYOUTS)('the layout %s', (layout: Layout) => {
    // Single entities are never scanned in the model.
    const workloads = WORKLOADS.filter((workload) => layout !== 'record' || workload !== 'ycsb-e');
    test.each(workloads.filter((workload) => whyNot(layout, workload) === undefined))('runs %s', async (workload) => {
      const result = await ran(provider, { layout, workload });
      expect(cellResultSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
      // Datastore throttles batches while a new kind has few ranges.
      expect(Object.keys(result.errors).filter((code) => code !== 'throttled')).toEqual([]);
      expect(result.records).toBeGreaterThan(0);
    });
  });
});

test('a dataset that was removed is no longer there', async () => {
  const { targets, runtime, inTime } = await cloudOf('azure-tables');
  const request = cell({ records: 100, workload: 'ycsb-c' });
  await inTime(prepareDataset(request, targets, { signal, runtime }));
  const table = await targets.baseline.open(request.dataset);
  expect(await inTime(table.getMany([keyOf(99)]))).toBe(1);
  await inTime(removeDataset(request.dataset, targets, signal));
  expect(await inTime((await targets.baseline.open(request.dataset)).getMany([keyOf(99)]))).toBe(0);
});

test('the baseline refuses to insert what is there, and to modify what is not', async () => {
  const { targets, inTime } = await cloudOf('datastore');
  const table = await targets.baseline.open('test1');
  const record = { key: 't00:customer:1', fields: { name: 'a', address: 'b', email: 'c', since: 'd', notes: 'e' } };
  expect(await inTime(table.modify(record))).toBe(false);
  await inTime(table.insert(record));
  await expect(inTime(table.insert(record))).rejects.toMatchObject({ code: 'exists' });
  expect(await inTime(table.modify(record))).toBe(true);
  await inTime(table.putMany([{ ...record, key: 't00:customer:2' }]));
  expect(await inTime(table.getMany(['t00:customer:1', 't00:customer:2', 't00:customer:3']))).toBe(2);
  expect(targets.baseline.usage().bytesWritten).toBeGreaterThan(0);
});
