// What one experiment opens on the two emulators, each thing at its first use: the plain SDK as it comes, and this store.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { PROVIDER_NAMES } from '../../../shared/lab/report/names.ts';
import type { BenchProvider } from '../bench/providers.ts';
import { type CountedStore, countedStore } from './counted-store.ts';
import type { ExperimentContext } from './experiment.ts';
import { azureTablesSdk } from './plain-sdk/azure-tables.ts';
import { datastoreSdk } from './plain-sdk/datastore.ts';
import type { PlainSdk } from './plain-sdk/plain-sdk.ts';

/** Namespace of Datastore, or table of Azure, where the store keeps its containers. */
const SPACE = 'experiments';

/** Whoever makes one closes it. */
export class Backends {
  readonly #context: Pick<ExperimentContext, 'emulator'>;
  readonly #emulators = new Map<Provider, Promise<BenchProvider>>();
  readonly #plain = new Map<Provider, Promise<PlainSdk>>();
  readonly #stores = new Map<Provider, Promise<CountedStore>>();

  constructor(context: Pick<ExperimentContext, 'emulator'>) {
    this.#context = context;
  }

  /** The provider's emulator. Rejects if it cannot start. */
  emulator(provider: Provider): Promise<BenchProvider> {
    return onceFor(this.#emulators, provider, () => this.#context.emulator(provider));
  }

  /** The provider's SDK with all settings at their defaults. */
  plain(provider: Provider): Promise<PlainSdk> {
    return onceFor(this.#plain, provider, async () => plainSdk(await this.emulator(provider)));
  }

  /** A store with all options at their defaults. */
  store(provider: Provider): Promise<CountedStore> {
    return onceFor(this.#stores, provider, async () =>
      countedStore(provider, (await this.emulator(provider)).driver(SPACE)),
    );
  }

  /** Name of the emulator, or that of the provider if it was not wanted or cannot start. */
  async where(provider: Provider): Promise<string> {
    try {
      return (await this.#emulators.get(provider))?.backend ?? PROVIDER_NAMES[provider];
    } catch {
      return PROVIDER_NAMES[provider];
    }
  }

  /** Closes what was opened; the emulators are their owner's. */
  async close(): Promise<void> {
    await Promise.allSettled([
      ...[...this.#plain.values()].map(async (sdk) => (await sdk).close()),
      ...[...this.#stores.values()].map(async (counted) => (await counted).store.close()),
    ]);
  }
}

function plainSdk({ provider, endpoint }: BenchProvider): PlainSdk {
  return provider === 'datastore' ? datastoreSdk(endpoint) : azureTablesSdk(endpoint);
}

function onceFor<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, open: () => Promise<Value>): Promise<Value> {
  const opened = known.get(key) ?? open();
  known.set(key, opened);
  return opened;
}
