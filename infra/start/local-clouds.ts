// Both clouds on this machine: emulators and hosts of the bundled functions, as processes.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Provider, PROVIDERS } from '../../shared/lab/kit/dimensions.ts';
import { PROVIDER_NAMES } from '../../shared/lab/report/names.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite, startStrictProcess } from '../emulators/azurite.ts';
import type { Emulator } from '../emulators/emulator.ts';
import { type Network, NO_NETWORK } from '../emulators/emulated-network.ts';
import { type DatastoreName, startDatastore } from '../emulators/which-datastore.ts';
import { startAzureHost } from '../hosts/azure-host.ts';
import { startGcpHost } from '../hosts/gcp-host.ts';
import type { FunctionHost, HostEnv } from '../hosts/local-host.ts';
import { folderOf, FUNCTIONS, packageAndUnpack, type UnpackedFunction } from '../package/package.ts';

export type FunctionName = 'records' | 'compare';

export interface RunningCloud {
  readonly provider: Provider;
  readonly name: string;
  readonly recordsUrl: string;
  /** The address of each instance of the function `compare`. */
  readonly compareUrls: readonly [string, ...string[]];
  /** Headers of a request: an app key of an admin or of comparisons, and the platform's key. */
  readonly headers: (name: FunctionName) => Readonly<Record<string, string>>;
  /** Aborts when the emulator ends by itself, as its functions would retry for long. */
  readonly ended: AbortSignal;
  /** The process of each instance of each function. */
  readonly hosts: readonly (readonly [FunctionName, FunctionHost])[];
  /** The last lines its hosts printed. */
  output(): string;
}

/** An app key per role, for both clouds, and the key that Azure's platform asks for. */
export const KEY_NAMES = ['read', 'write', 'admin', 'compare', 'functions'] as const;
export type LocalKeys = Readonly<Record<(typeof KEY_NAMES)[number], string>>;

export interface Clouds {
  readonly running: readonly RunningCloud[];
  readonly keys: LocalKeys;
  /** Ends everything, the hosts before their emulators. Idempotent. */
  close(): Promise<void>;
}

export interface CloudsOptions {
  /** The clouds to start. Default: both. */
  readonly providers?: readonly Provider[];
  readonly datastore: DatastoreName;
  /** How slow the emulators' answers are. With a network, Azurite is strict and keeps no data. */
  readonly network?: Network;
  /** Processes of `compare` on each cloud, which share a load. Default: 1. */
  readonly instances?: number;
  /** Default: random ones, for this run alone. */
  readonly keys?: Partial<LocalKeys>;
  /** Four ports in a row: Google's records and compare, then Azure's. Default: free ones. */
  readonly firstPort?: number | undefined;
  /** Keeps the data. Default: memory alone. */
  readonly dataDir?: string | undefined;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

const PROJECT_ID = 'stowage-local';

/** Records and compare. */
const PORTS_OF_A_CLOUD = 2;

export const DATA_FILES = { datastore: 'datastore.bin', 'azure-tables': 'azure-tables.bin' } as const;

/** Starts emulators and hosts. If one of them fails, throws with everything closed again. */
export async function startClouds(options: CloudsOptions): Promise<Clouds> {
  const { providers = PROVIDERS, firstPort, instances = 1, log, signal } = options;
  const random = KEY_NAMES.map((name) => [name, randomBytes(24).toString('base64url')] as const);
  const keys = { ...(Object.fromEntries(random) as LocalKeys), ...options.keys };
  // Closed in reverse order.
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  };
  try {
    // A folder per start, because packaging removes the files that were there before.
    const folder = await mkdtemp(path.join(tmpdir(), 'stowage-functions-'));
    opened.push({ close: () => rm(folder, { recursive: true, force: true }) });
    const sources = FUNCTIONS.filter(({ name }) => name !== 'vacuum');
    const clouds = providers.map((provider) => CLOUD_OF[provider]);
    const packages = await packageAndUnpack(folder, sources, clouds);
    signal.throwIfAborted();
    const startOn = async (provider: Provider) => {
      const ground = await GROUNDS[provider]({ ...options, keys }, packages);
      const { emulator } = ground;
      opened.push(emulator);
      const start = async (name: FunctionName, place: number): Promise<FunctionHost> => {
        const port = firstPort && firstPort + PORTS_OF_A_CLOUD * PROVIDERS.indexOf(provider) + place;
        const host = await ground.start(name, { ...envBeside(emulator), ...keysEnv(keys) }, port);
        opened.push(host);
        return host;
      };
      const starting = Array.from({ length: instances }, () => start('compare', 1));
      const [records, ...compares] = await allEnded([start('records', 0), ...starting]);
      const hosts = [['records', records] as const, ...compares.map((host) => ['compare', host] as const)];
      return {
        provider,
        name: PROVIDER_NAMES[provider],
        emulator,
        headers: (name: FunctionName) => ({
          Authorization: `Bearer ${name === 'compare' ? keys.compare : keys.admin}`,
          ...(provider === 'azure-tables' && { 'x-functions-key': keys.functions }),
        }),
        recordsUrl: records.url,
        compareUrls: compares.map(({ url }) => url) as [string, ...string[]],
        ended: endOf(emulator),
        hosts,
        output: () => hosts.map(([, host]) => tail(host.output())).join('\n'),
      };
    };
    const running = await allEnded(providers.map(startOn));
    signal.throwIfAborted();
    for (const { name, emulator, recordsUrl } of running) log(`${name}: ${emulator.name}, functions at ${recordsUrl}`);
    return { running, keys, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Ground {
  readonly emulator: Emulator;
  /** `env`: what all functions beside this emulator are told. */
  start(name: FunctionName, env: HostEnv, port?: number): Promise<FunctionHost>;
}

/** As `Promise.all`, but rejects only once all have settled, so that all can be closed. */
async function allEnded<const All extends readonly Promise<unknown>[]>(
  starting: All,
): Promise<{ -readonly [At in keyof All]: Awaited<All[At]> }> {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

type LayGround = (
  options: Pick<CloudsOptions, 'datastore' | 'network' | 'dataDir'> & { readonly keys: LocalKeys },
  packages: readonly UnpackedFunction[],
) => Promise<Ground>;

const layGoogle: LayGround = async ({ datastore, network = NO_NETWORK, dataDir }, packages) => {
  const emulator = await startDatastore(datastore, { network, dataFile: dataFileIn(dataDir, 'datastore') });
  const own = {
    GOOGLE_CLOUD_PROJECT: PROJECT_ID,
    DATASTORE_EMULATOR_HOST: emulator.endpoint.replace(/^https?:\/\//, ''),
    // Otherwise Google's libraries look for the metadata server of a cloud machine first.
    METADATA_SERVER_DETECTION: 'none',
  };
  return {
    emulator,
    start: (target, env, port) =>
      startGcpHost({ bundleDir: folderOf(packages, 'gcp', target), target, env: { ...env, ...own }, port }),
  };
};

const layAzure: LayGround = async ({ keys, network = NO_NETWORK, dataDir }, packages) => {
  const emulator =
    network.name === 'none'
      ? await startAzurite({ inProcess: false, dataFile: dataFileIn(dataDir, 'azure-tables') })
      : await startStrictProcess({ network });
  const own = {
    STOWAGE_TABLES_ENDPOINT: emulator.endpoint,
    STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
    STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
  };
  // One key for all function apps; on Azure each has its own.
  const hostKey = keys.functions;
  return {
    emulator,
    start: (name, env, port) =>
      startAzureHost({ bundleDir: folderOf(packages, 'azure', name), env: { ...env, ...own }, hostKey, port }),
  };
};

const GROUNDS: Readonly<Record<Provider, LayGround>> = { datastore: layGoogle, 'azure-tables': layAzure };
const CLOUD_OF = { datastore: 'gcp', 'azure-tables': 'azure' } as const;

function endOf({ name, exited }: Emulator): AbortSignal {
  const controller = new AbortController();
  void exited?.then(() => controller.abort(new Error(`${name} has ended`)));
  return controller.signal;
}

/** The emulator's name in the comparison, and the process whose processor time it reads. */
function envBeside({ name, processId }: Emulator): HostEnv {
  return { STOWAGE_BACKEND: name, ...(processId === undefined ? {} : { STOWAGE_BACKEND_PROCESS: processId }) };
}

function dataFileIn(dataDir: string | undefined, provider: Provider): string | undefined {
  return dataDir && path.join(dataDir, DATA_FILES[provider]);
}

function keysEnv(keys: LocalKeys): HostEnv {
  const roles = KEY_NAMES.filter((name) => name !== 'functions');
  return Object.fromEntries(roles.map((role) => [`STOWAGE_${role.toUpperCase()}_KEYS`, keys[role]]));
}

function tail(output: string): string {
  return output.trimEnd().split('\n').slice(-8).join('\n');
}

/** As severityOf writes it. JSON would escape these quotes in the text of a caller. */
const ERROR = '"severity":"ERROR"';

/** Prints log lines of errors. Calls `onEnd` with the reason when a process ends. */
export function watch(
  { name: cloud, hosts, ended }: Pick<RunningCloud, 'name' | 'hosts' | 'ended'>,
  print: (line: string) => void,
  onEnd: (why: string) => void,
): void {
  const say = (): void => onEnd(`${cloud}: ${(ended.reason as Error).message}`);
  if (ended.aborted) say();
  ended.addEventListener('abort', say);
  for (const [name, host] of hosts) {
    host.onLine((line) => {
      if (line.includes(ERROR)) print(`${cloud}, ${name}: ${line}`);
    });
    void host.exited.then((code) => {
      onEnd(
        `${cloud}: the process of ${name} has ended with exit code ${code}; its last output:\n${tail(host.output())}`,
      );
    });
  }
}
