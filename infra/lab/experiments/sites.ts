// One provider's clients in an experiment, opened at their first use: the plain SDK and this store,
// their requests counted.
import { measured } from '../../../shared/drivers/measured.ts';
import { billableOf } from '../../../shared/lab/cost/billable.ts';
import { chunks } from '../../../shared/lab/kit/chunks.ts';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { increase, type Usage } from '../../../shared/lab/kit/usage.ts';
import { type Spent, spentOn } from '../../../shared/lab/load/spent.ts';
import { PROVIDER_NAMES } from '../../../shared/lab/report/names.ts';
import type { SdkBaseline } from '../../../shared/lab/work/baseline.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import type { ExperimentContext } from './experiment.ts';
import { sdkTable, storeTable, type TextTable } from './text-table.ts';
import { callsOf, Records, sendAll, type Way } from './ways.ts';

/** Namespace of Datastore, or table of Azure, where the store keeps its containers. */
const SPACE = 'experiments';

export interface Cost extends Spent {
  /** From when a call was sent to when its answer was there, in the mean. */
  readonly callMs: number;
  readonly billable: Usage['billable'];
}

interface Opened {
  readonly table: TextTable;
  readonly records: Records;
}

export interface TableSize {
  /** Records that are there to be read. */
  readonly loaded: number;
  readonly characters: number;
}

/** Whoever makes one closes it. */
export class Site {
  readonly provider: Provider;
  readonly #context: Pick<ExperimentContext, 'emulator'>;
  readonly #tables = new Map<string, Promise<Opened>>();
  #clients: Promise<Clients> | undefined;

  constructor(provider: Provider, context: Pick<ExperimentContext, 'emulator'>) {
    this.provider = provider;
    this.#context = context;
  }

  /** Costs of the way on the client's table of this name, which is opened and loaded before. */
  async measure(way: Way, name: string, size: TableSize, signal: AbortSignal): Promise<Cost> {
    const clients = await this.#opened();
    const key = `${way.client} ${name}`;
    const opening = this.#tables.get(key) ?? openTable(clients, way.client, { ...size, name }, signal);
    this.#tables.set(key, opening);
    const { table, records } = await opening;
    let waitedMs = 0;
    const calls = callsOf(table, way, records).map((call) => async () => {
      const sentMs = performance.now();
      await call();
      waitedMs += performance.now() - sentMs;
    });
    const before = structuredClone(clients.billable[way.client]());
    const took = await spentOn(() => sendAll(calls, way.inFlight, signal));
    return { ...took, callMs: waitedMs / calls.length, billable: increase(before, clients.billable[way.client]()) };
  }

  /** Forgets the table, and removes it from the SDK's account: emulators hold all in memory. */
  async drop(client: Way['client'], name: string, signal: AbortSignal): Promise<void> {
    this.#tables.delete(`${client} ${name}`);
    if (client === 'sdk') await (await this.#opened()).baseline.remove(name, signal);
  }

  /** Name of the emulator, or that of the provider if it was not wanted or cannot start. */
  async where(): Promise<string> {
    const clients = await this.#clients?.catch(() => undefined);
    return clients?.backend ?? PROVIDER_NAMES[this.provider];
  }

  /** Closes what was opened; the emulator is its owner's. */
  async close(): Promise<void> {
    const clients = await this.#clients?.catch(() => undefined);
    await Promise.allSettled([clients?.store.close(), clients?.baseline.close()]);
  }

  #opened(): Promise<Clients> {
    this.#clients ??= openClients(this.provider, this.#context);
    return this.#clients;
  }
}

interface Clients {
  readonly backend: string;
  readonly baseline: SdkBaseline;
  readonly store: Store;
  readonly billable: Readonly<Record<Way['client'], () => Usage['billable']>>;
}

async function openClients(provider: Provider, context: Pick<ExperimentContext, 'emulator'>): Promise<Clients> {
  const emulator = await context.emulator(provider);
  const baseline = emulator.baseline();
  const { driver, counters } = measured(emulator.driver(SPACE));
  const billable = { sdk: () => baseline.usage().billable, store: () => billableOf(provider, counters).billable };
  return { backend: emulator.backend, baseline, store: openStore({ driver }), billable };
}

/** Calls on their way while a table is loaded. */
const LOADERS = 8;

/** The store keeps order, as a plain table does, where records are there to be read. */
async function openTable(
  { baseline, store }: Clients,
  client: Way['client'],
  { name, loaded, characters }: TableSize & { readonly name: string },
  signal: AbortSignal,
): Promise<Opened> {
  const table =
    client === 'sdk'
      ? sdkTable(baseline, await baseline.open(name))
      : storeTable(await store.table<string>(name, loaded > 0 ? { order: 'key' } : {}));
  const records = new Records(loaded);
  const parts = chunks(records.loaded(characters), client === 'sdk' ? baseline.putManyMax : loaded);
  await sendAll(
    parts.map((some) => () => table.putMany(some)),
    LOADERS,
    signal,
  );
  return { table, records };
}
