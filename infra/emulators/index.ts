// `@stowage/emulators`: both emulators inside a test's own process, and faults by name.
import { createRequire } from 'node:module';
import type { Arrived, SlowRequest } from '../../shared/drivers/slow/slow-cloud.ts';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import { seededRandom } from '../../shared/lab/kit/random.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, clientsEnvironment, startStrictAzurite } from './azurite.ts';
import { startDatastoreEmulator } from './datastore/index.ts';
import { NO_NETWORK, slowCloud, TIMERS } from './emulated-network.ts';

/** In each run the n-th request that a fault may meet takes the same random number. */
const SEED = 1;

/**
 * `throttle`: the service refuses the request, and nothing happens. `lose the reply`: the request
 * is carried out, but its sender gets no answer. `slow`: the answer takes longer.
 */
export type FaultName = 'throttle' | 'lose the reply' | 'slow';

export interface FaultOptions {
  /** Requests until the fault ends. Default: it stays until it is removed. */
  readonly count?: number;
  /** The share of the requests that it meets, up to 1, the same in each run. Default: all. */
  readonly share?: number;
  /** Which requests it meets. Default: any. */
  readonly kind?: 'read' | 'query' | 'commit' | 'any';
  /** How much longer a `slow` request takes: half before its effect, half after. Default: 100. */
  readonly delayMs?: number;
}

export interface InjectedFault {
  /** Requests that the fault has met. */
  readonly hits: number;
  /** Ends the fault. Idempotent. */
  remove(): void;
}

/** An emulator that is ready, on 127.0.0.1. */
export interface StartedEmulator {
  /** `http://127.0.0.1:port`, for Azure with the account's path. */
  readonly endpoint: string;
  /** From now on requests meet this fault. Throws a RangeError for options that make no sense. */
  inject(name: FaultName, options?: FaultOptions): InjectedFault;
}

export interface Emulators {
  /** Answers over gRPC, in any project and database. */
  readonly datastore: StartedEmulator;
  /** Azurite behind checks of Azure's limits; undefined if `azurite` is not installed. */
  readonly tables: (StartedEmulator & { readonly credential: { name: string; key: string } }) | undefined;
  /** The variables by which the clouds' own clients find the emulators, for `process.env`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends both, with all data. Idempotent. */
  close(): Promise<void>;
}

/** Starts both in this process, on free ports, with their data in memory. */
export async function startEmulators(): Promise<Emulators> {
  const [datastoreFaults, tableFaults] = [faultsBefore('datastore'), faultsBefore('azure-tables')];
  const datastore = await startDatastoreEmulator(datastoreFaults);
  const starting = hasAzurite() ? startStrictAzurite(tableFaults) : undefined;
  // Close the other one, which would keep the test's process alive.
  const tables = await starting?.catch(async (error: unknown) => {
    await datastore.close();
    throw error;
  });
  const endpoint = `http://${datastore.address}`;
  return {
    datastore: { endpoint, inject: datastoreFaults.inject },
    tables: tables && {
      endpoint: tables.endpoint,
      credential: { name: AZURITE_ACCOUNT_NAME, key: AZURITE_ACCOUNT_KEY },
      inject: tableFaults.inject,
    },
    environment: clientsEnvironment(endpoint, tables?.endpoint),
    async close() {
      await Promise.all([datastore.close(), tables?.close()]);
    },
  };
}

function hasAzurite(): boolean {
  try {
    createRequire(import.meta.url).resolve('azurite/package.json');
    return true;
  } catch {
    return false;
  }
}

interface Injected extends Required<FaultOptions> {
  readonly name: FaultName;
  readonly random: () => number;
  hits: number;
}

/** A network that is never late, and its faults, which are the same for both protocols. */
function faultsBefore(provider: Provider) {
  const cloud = slowCloud(NO_NETWORK.profiles[provider]);
  const all = new Set<Injected>();
  const meet = (kind: SlowRequest['kind']): Injected[] => {
    const met = [...all].filter((fault) => [kind, 'any'].includes(fault.kind) && fault.random() < fault.share);
    for (const fault of met) if ((fault.hits += 1) >= fault.count) all.delete(fault);
    return met;
  };
  const network = {
    async arrive(sent: SlowRequest, signal: AbortSignal): Promise<Arrived & { readonly isReplyLost: boolean }> {
      const met = meet(sent.kind);
      const has = (name: FaultName): boolean => met.some((fault) => fault.name === name);
      const halfMs = met.reduce((sum, { name, delayMs }) => sum + (name === 'slow' ? delayMs / 2 : 0), 0);
      if (halfMs > 0) await TIMERS.sleep(halfMs, signal);
      const { isThrottled, reply } = await cloud.arrive(sent, signal);
      return {
        isThrottled: isThrottled || has('throttle'),
        isReplyLost: has('lose the reply'),
        async reply(bytes, gone) {
          await reply(bytes, gone);
          if (halfMs > 0) await TIMERS.sleep(halfMs, gone);
        },
      };
    },
  };
  const inject = (name: FaultName, options: FaultOptions = {}): InjectedFault => {
    const { count = Infinity, share = 1, kind = 'any', delayMs = 100 } = options;
    if (!(count >= 1 && share > 0 && share <= 1 && delayMs >= 0))
      throw new RangeError('a fault takes a count from 1, a share above 0 and up to 1, and a delayMs from 0');
    const fault: Injected = { name, count, share, kind, delayMs, random: seededRandom(SEED), hits: 0 };
    all.add(fault);
    return {
      get hits() {
        return fault.hits;
      },
      remove: () => void all.delete(fault),
    };
  };
  return { network, inject };
}
