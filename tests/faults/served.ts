// A function's host that is killed and started again, as the simulation's clients know a process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../infra/emulators/azurite.ts';
import { startAzureHost } from '../../infra/hosts/azure.ts';
import { startGcpHost } from '../../infra/hosts/gcp.ts';
import type { FunctionHost } from '../../infra/hosts/host.ts';
import { FUNCTIONS, packageAndUnpack } from '../../infra/package/package.ts';
import { KEYS_ENV } from '../functions/keys.ts';
import type { Caller } from '../simulation/caller.ts';
import { httpStore } from './http-store.ts';
import type { Where } from './lines.ts';
import type { Mortal } from './mishaps.ts';

const HOST_KEY = 'the-platforms-own-gate';

/** The `records` function in its cloud's host, on the store that `where` names. */
export async function served(where: Where): Promise<Mortal> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-faults-'));
  const cloud = where.driver === 'datastore' ? 'gcp' : 'azure';
  const records = FUNCTIONS.filter(({ name }) => name === 'records');
  const [unpacked] = await packageAndUnpack(folder, records, [cloud]);
  const bundleDir = unpacked!.dir;
  const start = (port?: number): Promise<FunctionHost> => startHost(where, bundleDir, port);
  let host = await start();
  const port = Number(new URL(host.url).port);
  let restarted: Promise<unknown> = Promise.resolve();
  const caller = callerAt(host.url);
  return {
    async awake() {
      await restarted;
      return caller;
    },
    // Closing a host is SIGKILL of its process group.
    async kill(downMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      restarted = promise;
      await host.close();
      await delay(downMs);
      host = await start(port);
      resolve();
    },
    pause: undefined,
    async close() {
      await host.close();
      await rm(folder, { recursive: true });
    },
  };
}

function startHost(
  { driver, port: providerPort, space }: Where,
  bundleDir: string,
  port?: number,
): Promise<FunctionHost> {
  const at = `127.0.0.1:${providerPort}`;
  const env = { ...KEYS_ENV, STOWAGE_CONTAINER_BYTES_MAX: '16384', STOWAGE_TIMEOUT_MS: '6000' };
  const rest = { bundleDir, ...(port === undefined ? {} : { port }) };
  if (driver === 'datastore') {
    const google = { GOOGLE_CLOUD_PROJECT: space, STOWAGE_NAMESPACE: '', DATASTORE_EMULATOR_HOST: at };
    return startGcpHost({ ...rest, target: 'records', env: { ...env, ...google } });
  }
  const azure = {
    STOWAGE_TABLES_ENDPOINT: `http://${at}/${AZURITE_ACCOUNT_NAME}`,
    STOWAGE_TABLES_TABLE: space,
    STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
    STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
  };
  return startAzureHost({ ...rest, hostKey: HOST_KEY, env: { ...env, ...azure } });
}

/** Callers outlive the host: a kill is a connection that breaks. */
function callerAt(url: string): Caller {
  return {
    number: 0,
    process: { index: 0, wallJumpsMs: 0 },
    store: httpStore(url, { 'x-functions-key': HOST_KEY }),
    tables: [],
    crashed: new Promise(() => undefined),
    isDead: false,
    naps: NaN,
    wakesAtMs: 0,
    wallMs: Date.now,
  };
}
