// Both clouds on this machine: emulators in processes of their own, and the hosts that serve the bundled functions from them.
// A missing Google emulator is said plainly and leaves Azure alone; one that is there and does not start is an error.
import { randomBytes } from 'node:crypto';
import type { Provider } from '../../../shared/compare/cell.ts';
import { PROVIDERS } from '../../../shared/compare/cell.ts';
import { PROVIDER_NAMES } from '../../../shared/compare/names.ts';
import type { Circumstances } from '../../../shared/compare/report.ts';
import type { UnpackedFunction } from '../../plugin/package/package.ts';
import { folderOf, packageAndUnpack } from '../../plugin/package/package.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../emulators/azurite.ts';
import { findGoogleEmulator, startGoogleEmulator } from '../emulators/google.ts';
import type { FoundEmulator } from '../emulators/google.ts';
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
  /** The others too, with the reason. */
  readonly all: Circumstances['providers'];
  /** What the user may want to do about what is missing. */
  readonly hints: readonly string[];
  /** Ends everything, the hosts before their emulators. Idempotent. */
  close(): Promise<void>;
}

export interface CloudsOptions {
  /** Where the bundles go. */
  readonly buildDir: string;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Things to close, last opened first. */
type Closers = { close(): Promise<void> }[];

const PROJECT_ID = 'stowage-local';

/** Starts all that can be started; throws, with everything closed again, if one of them fails. */
export async function startClouds({ buildDir, log, signal }: CloudsOptions): Promise<Clouds> {
  const opened: Closers = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  };
  try {
    const packages = await packageAndUnpack(buildDir);
    const found = await findGoogleEmulator('firestore');
    if (!found.found) log(`SKIPPED ${PROVIDER_NAMES.datastore}: ${found.why}`);
    signal.throwIfAborted();
    const starts = [startAzure(packages, opened), ...(found.found ? [startGoogle(packages, found, opened)] : [])];
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
    const missing = found.found
      ? []
      : [{ provider: 'datastore' as const, ran: false, backend: found.why, isEmulator: true }];
    const hints = found.found ? [] : [`To compare ${PROVIDER_NAMES.datastore} too: ${found.howTo}.`];
    for (const { cloud, backend } of started) log(`${cloud.name}: ${backend}, functions at ${cloud.recordsUrl}`);
    return { running, all: [...backends, ...missing], hints, close };
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
  found: FoundEmulator,
  opened: Closers,
): Promise<Started> {
  const emulator = await startGoogleEmulator(found);
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
