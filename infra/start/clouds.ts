// Both clouds on this machine: emulators in processes of their own, and the hosts that serve the bundled functions from them.
// npm brings all of it; Google's own emulator replaces the embedded one on request.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type Provider, PROVIDERS } from '../../shared/compare/dimensions.ts';
import { PROVIDER_NAMES } from '../../shared/compare/report/names.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../emulators/azurite.ts';
import { startEmbeddedDatastore } from '../emulators/embedded.ts';
import type { Emulator } from '../emulators/emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from '../emulators/google.ts';
import { startAzureHost } from '../hosts/azure.ts';
import { startGcpHost } from '../hosts/gcp.ts';
import type { FunctionHost, HostEnv } from '../hosts/host.ts';
import { folderOf, packageAndUnpack, type UnpackedFunction } from '../package/package.ts';

export interface RunningCloud {
  readonly provider: Provider;
  /** For people. */
  readonly name: string;
  readonly recordsUrl: string;
  /** One for each instance of the function `compare`. */
  readonly compareUrls: readonly [string, ...string[]];
  /** Headers of a request: an admin's app key, and the platform's key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when its emulator ends by itself: its functions would try for long, one request after the other. */
  readonly ended: AbortSignal;
  /** The last lines its hosts printed. */
  output(): string;
}

/** App keys, one a role, the same on both clouds; and the key that Azure's platform asks for. */
export interface LocalKeys {
  readonly read: string;
  readonly write: string;
  readonly admin: string;
  readonly functions: string;
}

export interface Clouds {
  readonly running: readonly RunningCloud[];
  readonly keys: LocalKeys;
  /** Ends everything, the hosts before their emulators. Idempotent. */
  close(): Promise<void>;
}

export interface CloudsOptions {
  /** The folder that the bundles are written to. */
  readonly buildDir: string;
  /** Which clouds. Default: both. */
  readonly providers?: readonly Provider[];
  /** Which Datastore emulator. */
  readonly datastore: 'embedded' | 'google';
  /** Processes of the function `compare` on each cloud, which generate a load together. Default: 1. */
  readonly instances?: number;
  /** Default: random ones, for this run alone. */
  readonly keys?: Partial<LocalKeys>;
  /** The first of four ports in a row: records and compare of Google Cloud, then of Azure. Default: free ones. */
  readonly firstPort?: number | undefined;
  /** A folder that keeps the data; the emulators then run in this process. Default: the data is in memory alone. */
  readonly dataDir?: string | undefined;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Closed in reverse order. */
type Closers = { close(): Promise<void> }[];

const PROJECT_ID = 'stowage-local';

/** Starts emulators and hosts. If one of them fails, throws with everything closed again. */
export async function startClouds(options: CloudsOptions): Promise<Clouds> {
  const { buildDir, providers = PROVIDERS, log, signal } = options;
  const keys = { read: newKey(), write: newKey(), admin: newKey(), functions: newKey(), ...options.keys };
  const opened: Closers = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  };
  try {
    const packages = await packageAndUnpack(buildDir);
    signal.throwIfAborted();
    const starts = providers.map((provider) => STARTS[provider]({ ...options, keys }, packages, opened));
    const settled = await Promise.allSettled(starts);
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
    signal.throwIfAborted();
    const started = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const running = started.map(({ cloud }) => cloud);
    for (const { cloud, backend } of started) log(`${cloud.name}: ${backend}, functions at ${cloud.recordsUrl}`);
    return { running, keys, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Started {
  readonly cloud: RunningCloud;
  readonly backend: string;
}

type StartCloud = (
  options: CloudsOptions & { readonly keys: LocalKeys },
  packages: readonly UnpackedFunction[],
  opened: Closers,
) => Promise<Started>;

const startGoogle: StartCloud = async (options, packages, opened) => {
  const { keys, firstPort, instances = 1 } = options;
  const emulator = await startDatastore(options);
  opened.push(emulator);
  const env = {
    GOOGLE_CLOUD_PROJECT: PROJECT_ID,
    DATASTORE_EMULATOR_HOST: emulator.endpoint.replace(/^https?:\/\//, ''),
    STOWAGE_BACKEND: emulator.name,
    ...keysEnv(keys),
    // Otherwise Google's libraries look for the metadata server of a cloud machine first.
    METADATA_SERVER_DETECTION: 'none',
  };
  const start = async (target: 'records' | 'compare', place: number) => {
    const bundleDir = folderOf(packages, 'gcp', target);
    const host = await startGcpHost({ bundleDir, target, env, ...portAt(firstPort, place) });
    opened.push(host);
    return host;
  };
  const [records, ...compares] = await Promise.all([
    start('records', 0),
    ...timesOf(instances, () => start('compare', 1)),
  ]);
  const cloud: RunningCloud = {
    provider: 'datastore',
    name: PROVIDER_NAMES.datastore,
    recordsUrl: records.url,
    compareUrls: urlsOf(compares),
    headers: { Authorization: `Bearer ${keys.admin}` },
    ended: endOf(emulator),
    output: () => `${tail(records.output())}\n${compares.map((host) => tail(host.output())).join('\n')}`,
  };
  return { cloud, backend: emulator.name };
};

/** Google's emulator is used on request only; if it is missing, the error says how to install it. */
async function startDatastore({ datastore, dataDir }: CloudsOptions): Promise<Emulator> {
  if (datastore === 'embedded') return await startEmbeddedDatastore(placeFor(dataDir, 'datastore.bin'));
  const found = await findGoogleEmulator('firestore');
  if (!found.found) throw new Error(`${found.why}. Leave out --datastore=google, or: ${found.howTo}`);
  return await startGoogleEmulator(found);
}

const startAzure: StartCloud = async ({ keys, firstPort, dataDir, instances = 1 }, packages, opened) => {
  const emulator = await startAzurite(placeFor(dataDir, 'azure-tables.bin'));
  opened.push(emulator);
  const env = {
    STOWAGE_TABLES_ENDPOINT: emulator.endpoint,
    STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
    STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    STOWAGE_BACKEND: emulator.name,
    ...keysEnv(keys),
  };
  const start = async (name: 'records' | 'compare', place: number) => {
    const bundleDir = folderOf(packages, 'azure', name);
    // One key for both function apps: elsewhere each has its own.
    const host = await startAzureHost({ bundleDir, env, hostKey: keys.functions, ...portAt(firstPort, place) });
    opened.push(host);
    return host;
  };
  const [records, ...compares] = await Promise.all([
    start('records', 2),
    ...timesOf(instances, () => start('compare', 3)),
  ]);
  const cloud: RunningCloud = {
    provider: 'azure-tables',
    name: PROVIDER_NAMES['azure-tables'],
    recordsUrl: records.url,
    compareUrls: urlsOf(compares),
    headers: { Authorization: `Bearer ${keys.admin}`, 'x-functions-key': keys.functions },
    ended: endOf(emulator),
    output: () => `${tail(records.output())}\n${compares.map((host) => tail(host.output())).join('\n')}`,
  };
  return { cloud, backend: emulator.name };
};

const STARTS: Readonly<Record<Provider, StartCloud>> = { datastore: startGoogle, 'azure-tables': startAzure };

function endOf({ name, exited }: Emulator): AbortSignal {
  const controller = new AbortController();
  void exited?.then(() => controller.abort(new Error(`${name} has ended`)));
  return controller.signal;
}

function timesOf<Thing>(count: number, make: () => Thing): Thing[] {
  return Array.from({ length: count }, make);
}

function urlsOf([first, ...others]: readonly FunctionHost[]): RunningCloud['compareUrls'] {
  return [first!.url, ...others.map(({ url }) => url)];
}

function portAt(firstPort: number | undefined, place: number): { readonly port?: number } {
  return firstPort === undefined ? {} : { port: firstPort + place };
}

/** Data that stays is written by this process; without it, a separate one measures better. */
function placeFor(
  dataDir: string | undefined,
  file: string,
): { readonly inProcess: boolean; readonly dataFile?: string } {
  return dataDir === undefined ? { inProcess: false } : { inProcess: true, dataFile: path.join(dataDir, file) };
}

function keysEnv({ read, write, admin }: LocalKeys): HostEnv {
  return { STOWAGE_READ_KEYS: read, STOWAGE_WRITE_KEYS: write, STOWAGE_ADMIN_KEYS: admin };
}

/** A key for this run alone. */
function newKey(): string {
  return randomBytes(24).toString('base64url');
}

function tail(output: string): string {
  return output.trimEnd().split('\n').slice(-8).join('\n');
}
