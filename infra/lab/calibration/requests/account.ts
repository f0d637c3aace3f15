// An account of a cloud to measure requests on: the store's driver and the SDK, both in a kind or
// table of their own that nobody else has.
import { randomUUID } from 'node:crypto';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { GoogleAuth } from 'google-auth-library';
import { azureTablesDriver } from '../../../../shared/drivers/azure-tables.ts';
import { datastoreDriver } from '../../../../shared/drivers/datastore.ts';
import { azureTablesBaseline } from '../../../../shared/lab/sdk/azure-tables.ts';
import { datastoreBaseline } from '../../../../shared/lab/sdk/datastore.ts';
import { type Baseline, placeOf } from '../../../../shared/lab/work/baseline.ts';
import type { Driver } from '../../../../shared/store/index.ts';

/**
 * Nobody else's. The driver's entities lie in its kind or table, so that the baseline removes them
 * with it.
 */
export const DATASET = `calibration${randomUUID().slice(0, 8)}`;

export interface Account {
  readonly driver: Driver;
  readonly baseline: Baseline;
  /** Whether it may be an emulator: then no figure says anything about a cloud. */
  readonly isEmulator: boolean;
}

/**
 * With the machine's application default credentials; with `emulator`, `host:port`, without any.
 */
export function datastoreAccount(projectId: string, emulator: string | undefined): Account {
  const endpoint = `http://${emulator}`;
  const auth = new GoogleAuth({ scopes: ['https://www.googleapis.com/auth/datastore'] });
  return {
    driver: datastoreDriver({
      projectId,
      kind: placeOf(DATASET),
      ...(emulator === undefined ? { auth } : { endpoint }),
    }),
    baseline: datastoreBaseline({ projectId, ...(emulator === undefined ? {} : { apiEndpoint: endpoint }) }),
    isEmulator: emulator !== undefined,
  };
}

/**
 * By a connection string with an account's key, as the portal shows it. Throws a TypeError for
 * another.
 */
export function azureAccount(connectionString: string): Account {
  const part = (name: string): string | undefined => new RegExp(`(?:^|;)${name}=([^;]+)`).exec(connectionString)?.[1];
  const [name, key] = [part('AccountName'), part('AccountKey')];
  if (name === undefined || key === undefined)
    throw new TypeError('a connection string has AccountName and AccountKey');
  const endpoint = part('TableEndpoint') ?? `https://${name}.table.${part('EndpointSuffix') ?? 'core.windows.net'}`;
  const credential = new AzureNamedKeyCredential(name, key);
  const options = { allowInsecureConnection: endpoint.startsWith('http:') };
  return {
    driver: azureTablesDriver({ endpoint, tableName: placeOf(DATASET), credential }),
    baseline: azureTablesBaseline({ tableClient: (table) => new TableClient(endpoint, table, credential, options) }),
    isEmulator: !/\.table\.core\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net)$/.test(new URL(endpoint).hostname),
  };
}
