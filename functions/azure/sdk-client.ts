// Makes Azure's own client. An instance loads this file only if it sends over the SDK.
import { TableClient } from '@azure/data-tables';
import type { NamedKeyCredential, TokenCredential } from '@azure/core-auth';

interface Tables {
  readonly endpoint: string;
  readonly credential: NamedKeyCredential | TokenCredential;
}

/** A client of one physical table. */
export function sdkClient({ endpoint, credential }: Tables, tableName: string): TableClient {
  // Plain HTTP is for Azurite on the same machine.
  const options = { allowInsecureConnection: new URL(endpoint).hostname === '127.0.0.1' };
  return 'key' in credential
    ? new TableClient(endpoint, tableName, credential, options)
    : new TableClient(endpoint, tableName, credential, options);
}
