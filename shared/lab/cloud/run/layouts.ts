// What the instances of a cell run: the store on a table of its records, or the provider's own entities.
import { keyOf, tenantOf } from '../../work/keys.ts';
import { openStore, type Table } from '../../../store/index.ts';
import type { ProcessorCosts } from '../data/processor.ts';
import { chargedDriver } from '../instance/charged-driver.ts';
import type { Instance } from '../instance/instance.ts';
import { InstanceRuntime } from '../instance/runtime.ts';
import { modelledDriver } from '../service/driver.ts';
import { PlainTable, plainState } from '../service/plain.ts';
import type { ModelledService } from '../service/service.ts';
import { CHANCE, sourceOf } from '../time/chance.ts';
import { type Client, containerClient, plainClient } from '../work/clients.ts';
import { valueSource } from '../work/values.ts';
import type { ModelCell } from './cell.ts';
import { datasetOf, TABLE } from './datasets.ts';

/** One client an instance, made when the instance has its first operation. */
export interface Clients {
  of(instance: Instance): Client | Promise<Client>;
  /** The store's tables that are open, one an instance; none of plain layouts. */
  readonly tables: readonly Table<Uint8Array>[];
  /** Containers that are there; null where nobody knows. */
  containers(): number | null;
}

/** The processor costs of a cell's provider; undefined if the processor is not modelled. */
type Costs = ProcessorCosts | undefined;

export async function clientsOf(cell: ModelCell, service: ModelledService, costs: Costs): Promise<Clients> {
  return cell.layout === 'container' ? containerClients(cell, service, costs) : plainClients(cell, service, costs);
}

function plainClients(cell: ModelCell, service: ModelledService, costs: Costs): Clients {
  const { recordBytes, workload, layout } = cell;
  if (layout === 'container') throw new TypeError('containers are no plain layout');
  // All records are there, whoever asks: how many they are makes no difference to single entities.
  const state = plainState(workload === 'load' ? undefined : (key) => key.length + recordBytes);
  const table = new PlainTable(service, state, tenantOf);
  const clients = new Map<Instance, Client>();
  const open = (instance: Instance): Client => {
    const client = plainClient({ layout, table, instance, keyOf, recordBytes, costs });
    clients.set(instance, client);
    return client;
  };
  return { of: (instance) => clients.get(instance) ?? open(instance), tables: [], containers: () => null };
}

async function containerClients(cell: ModelCell, service: ModelledService, costs: Costs): Promise<Clients> {
  const { records, recordBytes, seed, containerBytesMax } = cell;
  const size = containerBytesMax === undefined ? {} : { containerBytesMax };
  const { limits } = modelledDriver(service, { entities: new Map(), versionCount: 0 });
  const { state, keyOf, containers } = await datasetOf({ records, recordBytes, limits, seed, ...size });
  const valueOf = valueSource(seed, recordBytes);
  const tables: Table<Uint8Array>[] = [];
  const clients = new Map<Instance, Promise<Client>>();
  const open = async (instance: Instance): Promise<Client> => {
    const random = sourceOf(seed, CHANCE.runtime, instance.number);
    const runtime = new InstanceRuntime(service.scheduler, random, instance.processor);
    const near = modelledDriver(service, state);
    const driver = costs === undefined ? near : chargedDriver(near, instance.processor, costs.container);
    const store = openStore({ driver, runtime });
    const table = await store.table(TABLE, { order: 'key', codec: 'bytes', ...size });
    tables.push(table);
    return containerClient({ table, instance, keyOf, valueOf, costs });
  };
  const once = (instance: Instance): Promise<Client> => {
    const opening = open(instance);
    clients.set(instance, opening);
    // The next operation tries again.
    opening.catch(() => clients.delete(instance));
    return opening;
  };
  return { of: (instance) => clients.get(instance) ?? once(instance), tables, containers };
}
