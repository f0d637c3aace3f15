// Connection strings, as the Azure portal, the SDKs and emulators give them.
// https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
import type { Credential } from './authorization.ts';

/** An account's tables, and the rights to them; without a credential the endpoint holds a SAS. */
export interface TableAccount {
  readonly endpoint: string;
  readonly credential?: Credential;
}

/** Published by Microsoft for emulators: no secret. */
const EMULATOR: TableAccount = {
  endpoint: 'http://127.0.0.1:10002/devstoreaccount1',
  credential: {
    name: 'devstoreaccount1',
    key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
  },
};

/** Throws a TypeError that shows nothing of the string, as it holds a secret. */
export function accountIn(connectionString: string): TableAccount {
  const settings = settingsIn(connectionString);
  if (settings.get('usedevelopmentstorage') === 'true') return EMULATOR;
  const [name, key, signature] = ['accountname', 'accountkey', 'sharedaccesssignature'].map((each) =>
    settings.get(each),
  );
  const endpoint = settings.get('tableendpoint') ?? (name === undefined ? undefined : endpointOf(name, settings));
  if (endpoint === undefined) throw bad('TableEndpoint or AccountName');
  if (signature !== undefined) return { endpoint, credential: { signature } };
  if (name !== undefined && key !== undefined) return { endpoint, credential: { name, key } };
  if (endpoint.includes('sig=')) return { endpoint };
  throw bad('AccountName and AccountKey, or SharedAccessSignature');
}

function endpointOf(name: string, settings: ReadonlyMap<string, string>): string {
  const protocol = settings.get('defaultendpointsprotocol') ?? 'https';
  const suffix = settings.get('endpointsuffix') ?? 'core.windows.net';
  return `${protocol}://${name}.table.${suffix}`;
}

/** By names in lower case. A value may hold `=`, as base64 and signatures do. */
function settingsIn(connectionString: string): ReadonlyMap<string, string> {
  const pairs = connectionString.split(';').filter((pair) => pair.trim() !== '');
  return new Map(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw bad('settings like NAME=VALUE, each after a semicolon');
      return [pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()];
    }),
  );
}

function bad(lacks: string): TypeError {
  return new TypeError(`this is no connection string of Azure Storage: it lacks ${lacks}`);
}
