// A provider's own SDK on one modelled instance: one entity a record, of bytes without content.
import { type Baseline, type BaselineTable, withTries } from '../../work/baseline.ts';
import { tenantOf } from '../../work/keys.ts';
import { type SampleRecord, sizeOf } from '../../work/records.ts';
import type { Cost, ProcessorCosts } from '../data/processor.ts';
import type { ServiceCounters } from '../service/counters.ts';
import { PlainTable, plainState, type PlainState } from '../service/plain.ts';
import type { ModelledService } from '../service/service.ts';
import type { Usage } from '../../kit/usage.ts';
import { charged } from './charged.ts';
import type { Instance } from './instance.ts';

const LAST_KEY = '\uffff';

/** The kind or table holds the record already. */
class ExistsError extends Error {
  readonly code = 'exists';
}

export interface ModelledBaseline {
  readonly service: ModelledService;
  readonly instance: Instance;
  /** The provider's data by dataset: instances that share it share a database. */
  readonly states: Map<string, PlainState>;
  /** Undefined: the processor costs nothing. */
  readonly costs: ProcessorCosts | undefined;
}

/** Its usage is that of the whole service, whichever instance asked. */
export function modelledBaseline({ service, instance, states, costs }: ModelledBaseline): Baseline {
  const { provider } = service.parameters.data;
  const stateOf = (dataset: string): PlainState => {
    const state = states.get(dataset) ?? plainState();
    states.set(dataset, state);
    return state;
  };
  const { putManyMax, getManyMax } = new PlainTable(service, plainState(), tenantOf);
  return {
    provider,
    putManyMax,
    getManyMax,
    lane: provider === 'azure-tables' ? tenantOf : () => '',
    open: async (dataset) => tableOf(new PlainTable(service, stateOf(dataset), tenantOf), instance, costs),
    remove: async (dataset) => void states.delete(dataset),
    usage: () => usageOf(service.counters),
    close: async () => {},
  };
}

/** Usage as the provider counts and bills it. Retries of the SDK are among the requests. */
export function usageOf({ requests, conflicts, billable, bytesRead, bytesWritten }: ServiceCounters): Usage {
  return { requests, retries: null, conflicts, billable, bytesRead, bytesWritten };
}

function tableOf(table: PlainTable, instance: Instance, costs: ProcessorCosts | undefined): BaselineTable {
  const single = costs?.record;
  const once = <T>(cost: Cost | undefined, send: () => Promise<T>): Promise<T> =>
    cost === undefined ? send() : charged(instance, cost, send);
  const many = <T>(way: 'read' | 'write', records: number, send: () => Promise<T>): Promise<T> => {
    if (costs === undefined) return send();
    const { request, record } = costs.batch[way];
    const cost = request + records * record;
    return charged(instance, { alone: cost, busy: cost }, send);
  };
  const range = async (from: string, to: string, count: number): Promise<number> => {
    if (costs === undefined) return table.range(from, to, count);
    const { request, record } = costs.batch.read;
    const cost = { alone: request, busy: request };
    return charged(instance, cost, () => table.range(from, to, count), { answered: (found) => found * record });
  };
  return {
    insert: async (record) => {
      const isNew = await once(single?.insert, () => table.insert(record.key, sizeOf(record)));
      if (!isNew) throw new ExistsError(`exists: ${record.key}`);
    },
    replace: (record) => once(single?.replace, () => table.put(record.key, sizeOf(record))),
    // The service counts the conflicts.
    modify: (record) =>
      withTries(
        () => once(single?.conditional, () => table.modify(record.key, sizeOf(record))),
        () => undefined,
      ),
    get: async (key) => (await once(single?.get, () => table.get(key))) !== undefined,
    putMany: (records) => many('write', records.length, () => table.putMany(records.map(itemOf))),
    putInTransaction: (records) =>
      many('write', records.length, () => table.putMany(records.map(itemOf), 'transaction')),
    getMany: async (keys) => {
      const found = await many('read', keys.length, () => table.getMany(keys));
      return found.filter((bytes) => bytes !== undefined).length;
    },
    range,
    scan: () => range('', LAST_KEY, Infinity),
  };
}

function itemOf(record: SampleRecord): { readonly key: string; readonly bytes: number } {
  return { key: record.key, bytes: sizeOf(record) };
}
