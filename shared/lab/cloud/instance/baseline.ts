// A provider's own SDK on one modelled instance: one entity a record, of bytes without content.
import { type Baseline, type BaselineTable, BATCHING, withTries } from '../../work/baseline.ts';
import { type SampleRecord, sizeOf } from '../../work/records.ts';
import { flat, type ProcessorCosts, type RecordCosts } from '../data/processor.ts';
import type { ServiceCounters } from '../service/counters.ts';
import { PlainTable, plainState, type PlainState } from '../service/plain.ts';
import type { ModelledService } from '../service/service.ts';
import type { Usage } from '../../kit/usage.ts';
import { charged } from './charged.ts';
import type { Instance } from './instance.ts';

class ExistsError extends Error {
  readonly code = 'exists';
}

/**
 * Instances that share `states`, the data by dataset, share a database. Its usage is that of the
 * whole service, whichever asked. Without `costs` the processor costs nothing.
 */
export function modelledBaseline(
  service: ModelledService,
  instance: Instance,
  states: Map<string, PlainState>,
  costs: ProcessorCosts | undefined,
): Baseline {
  return {
    ...BATCHING[service.parameters.data.provider],
    open: async (dataset) => {
      const state = states.get(dataset) ?? plainState();
      states.set(dataset, state);
      return tableOf(new PlainTable(service, state), instance, costs);
    },
    remove: async (dataset) => void states.delete(dataset),
    usage: () => usageOf(service.counters),
  };
}

/** Usage as the provider counts and bills it. Retries of the SDK are among the requests. */
export function usageOf({ requests, conflicts, billable, bytesRead, bytesWritten }: ServiceCounters): Usage {
  return { requests, retries: null, conflicts, billable, bytesRead, bytesWritten };
}

function tableOf(table: PlainTable, instance: Instance, costs: ProcessorCosts | undefined): BaselineTable {
  const once = <T>(verb: keyof RecordCosts, send: () => Promise<T>): Promise<T> =>
    costs === undefined ? send() : charged(instance, costs.record[verb], send);
  const many = <T>(way: 'read' | 'write', records: number, send: () => Promise<T>): Promise<T> => {
    if (costs === undefined) return send();
    const { request, record } = costs.batch[way];
    return charged(instance, flat(request + records * record), send);
  };
  return {
    insert: async (record) => {
      const isNew = await once('insert', () => table.insert(record.key, sizeOf(record)));
      if (!isNew) throw new ExistsError(`exists: ${record.key}`);
    },
    replace: (record) => once('replace', () => table.put(record.key, sizeOf(record))),
    modify: (record) => withTries(() => once('conditional', () => table.modify(record.key, sizeOf(record)))),
    get: async (key) => (await once('get', () => table.get(key))) !== undefined,
    putMany: (records) => many('write', records.length, () => table.putMany(records.map(itemOf))),
    getMany: async (keys) => {
      const found = await many('read', keys.length, () => table.getMany(keys));
      return found.filter((bytes) => bytes !== undefined).length;
    },
    range: () => Promise.reject(new TypeError('the model has no workload that reads a range of keys')),
  };
}

function itemOf(record: SampleRecord): { readonly key: string; readonly bytes: number } {
  return { key: record.key, bytes: sizeOf(record) };
}
