// Where cells run on Azure: for the function `compare`, and for parts of a comparison.
import { TableClient } from '@azure/data-tables';
import { azureTablesBaseline } from '../../shared/compare/baseline/azure-tables.ts';
import type { CellTargets } from '../../shared/compare/cell/targets.ts';
import { instance, placeOf } from '../compare/place.ts';
import { once } from '../instance/lifetime.ts';
import { open, tables } from './instance.ts';
import { azureFacts } from './platform.ts';

/** `entryUrl`: of the entry's module. Made at the first use. */
export const targetsOf = (entryUrl: string): (() => Promise<CellTargets>) =>
  once(async () => ({
    provider: 'azure-tables',
    baseline: azureTablesBaseline({ tableClient }),
    openStore: open,
    place: placeOf(azureFacts(process.env, tables.endpoint), entryUrl),
    instance,
  }));

/** A client of one physical table, for the layouts that the store is compared with. */
function tableClient(tableName: string): TableClient {
  const { endpoint, credential } = tables;
  // Plain HTTP is for Azurite on the same machine.
  const options = { allowInsecureConnection: new URL(endpoint).hostname === '127.0.0.1' };
  return 'key' in credential
    ? new TableClient(endpoint, tableName, credential, options)
    : new TableClient(endpoint, tableName, credential, options);
}
