// Both clouds on this machine: emulators in processes of their own, and the hosts that serve the bundled functions from them.
// All of it comes with npm; Google's own emulator takes the place of the embedded one where that is asked for.
import { randomBytes } from 'node:crypto';
import type { Provider } from '../../../shared/compare/cell.ts';
import { PROVIDERS } from '../../../shared/compare/cell.ts';
import { PROVIDER_NAMES } from '../../../shared/compare/names.ts';
import type { Circumstances } from '../../../shared/compare/report.ts';
import type { UnpackedFunction } from '../../plugin/package/package.ts';
import { folderOf, packageAndUnpack } from '../../plugin/package/package.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../emulators/azurite.ts';
import { startEmbeddedDatastore } from '../emulators/embedded.ts';
import type { Emulator } from '../emulators/emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from '../emulators/google.ts';
import { startAzureHost } from '../hosts/azure.ts';
import { startGcpHost } from '../hosts/gcp.ts';

export interface RunningCloud {
  readonly provider: Provider;
  /** For people. */
  readonly name: string;
  readonly recordsUrl: string;
  readonly compareUrl: string;
  /** What a request needs: an admin's key, and the platform's. */
  readonly headers: Readonly<Record<string, string>>;
  /** What its hosts printed last. */
  output(): string;
}

export interface Clouds {
  readonly running: readonly RunningCloud[];
  /** What they run on. */
  readonly all: Circumstances['providers'];
  /** Ends everything, the hosts before their emulators. Idempotent. */
  close(): Promise<void>;
}

export interface CloudsOptions {
  /** Where the bundles go. */
  readonly buildDir: string;
  /** Which Datastore emulator. */
  readonly datastore: 'embedded' | 'google';
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Things to close, last opened first. */
type Closers = { close(): Promise<void> }[];

const PROJECT_ID = 'stowage-local';

/** Starts all that can be started; throws, with everything closed again, if one of them fails. */
export async function startClouds({ buildDir, datastore, log, signal }: CloudsOptions): Promise<Clouds> {
  const opened: Closers = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  };
  try {
    const packages = await packageAndUnpack(buildDir);
    signal.throwIfAborted();
    const starts = [startAzure(packages, opened), startGoogle(packages, datastore, opened)];
    const settled = await Promise.allSettled(starts);
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
    signal.throwIfAborted();
    const started = settled
      .flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      .toSorted((one, other) => PROVIDERS.indexOf(one.cloud.provider) - PROVIDERS.indexOf(other.cloud.provider));
    const running = started.map(({ cloud }) => cloud);
    const backends = started.map(({ cloud: { provider }, backend }) => ({
      provider,
      ran: true,
      backend,
      isEmulator: true,
    }));
    for (const { cloud, backend } of started) log(`${cloud.name}: ${backend}, functions at ${cloud.recordsUrl}`);
    return { running, all: backends, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Started {
  readonly cloud: RunningCloud;
  readonly backend: string;
}

async function startGoogle(
  packages: readonly UnpackedFunction[],
  datastore: CloudsOptions['datastore'],
  opened: Closers,
): Promise<Started> {
  const emulator = await startDatastore(datastore);
  opened.push(emulator);
  const key = newKey();
  const env = {
    GOOGLE_CLOUD_PROJECT: PROJECT_ID,
    DATASTORE_EMULATOR_HOST: emulator.endpoint.replace(/^https?:\/\//, ''),
    STOWAGE_ADMIN_KEYS: key,
    // Otherwise Google's libraries look for the metadata server of a cloud machine first.
    METADATA_SERVER_DETECTION: 'none',
  };
  const start = async (target: 'records' | 'compare') => {
    const host = await startGcpHost({ bundleDir: folderOf(packages, 'gcp', target), target, env });
    opened.push(host);
    return host;
  };
  const [records, compare] = await Promise.all([start('records'), start('compare')]);
  const cloud: RunningCloud = {
    provider: 'datastore',
    name: PROVIDER_NAMES.datastore,
    recordsUrl: records.url,
    compareUrl: compare.url,
    headers: { Authorization: `Bearer ${key}` },
    output: () => `${tail(records.output())}\n${tail(compare.output())}`,
  };
  return { cloud, backend: emulator.name };
}

/** Google's is not looked for unless it was asked for; asked for and missing is an error that says how to get it. */
async function startDatastore(datastore: CloudsOptions['datastore']): Promise<Emulator> {
  if (datastore === 'embedded') return await startEmbeddedDatastore({ inProcess: false });
  const found = await findGoogleEmulator('firestore');
  if (!found.found) throw new Error(`${found.why}. Leave out --datastore=google, or: ${found.howTo}`);
  return await startGoogleEmulator(found);
}

async function startAzure(packages: readonly UnpackedFunction[], opened: Closers): Promise<Started> {
  const emulator = await startAzurite({ inProcess: false });
  opened.push(emulator);
  const key = newKey();
  // One for both function apps: elsewhere each has its own.
  const hostKey = newKey();
  const env = {
    STOWAGE_TABLES_ENDPOINT: emulator.endpoint,
    STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
    STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    STOWAGE_ADMIN_KEYS: key,
  };
  const start = async (name: 'records' | 'compare') => {
    const host = await startAzureHost({ bundleDir: folderOf(packages, 'azure', name), env, hostKey });
    opened.push(host);
    return host;
  };
  const [records, compare] = await Promise.all([start('records'), start('compare')]);
  const cloud: RunningCloud = {
    provider: 'azure-tables',
    name: PROVIDER_NAMES['azure-tables'],
    recordsUrl: records.url,
    compareUrl: compare.url,
    headers: { Authorization: `Bearer ${key}`, 'x-functions-key': hostKey },
    output: () => `${tail(records.output())}\n${tail(compare.output())}`,
  };
  return { cloud, backend: emulator.name };
}

/** A key for this run alone. */
function newKey(): string {
  return randomBytes(24).toString('base64url');
}

function tail(output: string): string {
  return output.trimEnd().split('\n').slice(-8).join('\n');
}
