// Google's side of the functions: opens driver and store, by the environment, at the first request.
import type { GoogleAuth } from 'google-auth-library';
import * as z from 'zod/mini';
import { checked } from '../../shared/drivers/checked.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import { type Driver, openStore } from '../../shared/store/index.ts';
import { type Log, logToStdout } from '../http/log.ts';
import { cloudLogging, emulatorIn } from './platform.ts';
import { CHECKS, functionConfig, parsedEnvironment, TRANSPORT } from '../instance/config.ts';
import { closeOnSigterm, once, requestTracer } from '../instance/lifetime.ts';
import { withLatencyLogged } from '../instance/store-latency.ts';

const given = functionConfig(process.env);
/** App keys, default deadlines, and a tracer if a collector is named. */
export const config = { ...given, tracer: await requestTracer(given.tracing) };

const env = parsedEnvironment(
  z.object({
    GOOGLE_CLOUD_PROJECT: z.string(),
    STOWAGE_DATABASE_ID: z.optional(z.string()),
    STOWAGE_NAMESPACE: z.optional(z.string()),
    STOWAGE_TRANSPORT: TRANSPORT,
    STOWAGE_CHECK: CHECKS,
  }),
  process.env,
);
/** The project's database and namespace, as the SDK's clients take them. */
export const databaseOptions = {
  projectId: env.GOOGLE_CLOUD_PROJECT,
  ...(env.STOWAGE_DATABASE_ID === undefined ? {} : { databaseId: env.STOWAGE_DATABASE_ID }),
  ...(env.STOWAGE_NAMESPACE === undefined ? {} : { namespace: env.STOWAGE_NAMESPACE }),
};

/** The users' store, opened once; closed when the instance ends. */
export const usersStore = once(async () => {
  const store = openStore({ driver: withLatencyLogged(await driverIn(), logToStdout) });
  closeOnSigterm(() => store.close());
  return store;
});

/** A driver of entities of this kind (default: the users'), over this transport. */
export async function driverIn(kind?: string, transport = env.STOWAGE_TRANSPORT): Promise<Driver> {
  const options = transport === 'sdk' ? await client() : await address();
  const driver = datastoreDriver({ ...options, ...(kind === undefined ? {} : { kind }) });
  return env.STOWAGE_CHECK === '1' ? checked(driver) : driver;
}

async function client() {
  const { sdkClient } = await import('./sdk-client.ts');
  return { client: sdkClient(databaseOptions) };
}

async function address() {
  const endpoint = emulatorIn(process.env);
  if (endpoint === undefined) return { ...databaseOptions, auth: await credentials() };
  return { ...databaseOptions, endpoint, allowInsecureConnection: true };
}

/** The library is loaded by the first request that needs a token. */
async function credentials(): Promise<GoogleAuth> {
  const library = await import('google-auth-library');
  return new library.GoogleAuth({ scopes: ['https://www.googleapis.com/auth/datastore'] });
}

export const log: Log = (line) => logToStdout(cloudLogging(line, databaseOptions.projectId));
