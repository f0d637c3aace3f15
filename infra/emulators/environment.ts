// The variables by which the clouds' own clients, and this project's, find the emulators.
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from './azurite.ts';

/** `tables` has the account's path; undefined if no such emulator runs. */
export function clientsEnvironment(datastore: string, tables: string | undefined): Record<string, string> {
  return {
    DATASTORE_EMULATOR_HOST: datastore.replace('http://', ''),
    DATASTORE_PROJECT_ID: 'stowage-local',
    ...(tables !== undefined && {
      AZURE_STORAGE_CONNECTION_STRING: [
        'DefaultEndpointsProtocol=http',
        `AccountName=${AZURITE_ACCOUNT_NAME}`,
        `AccountKey=${AZURITE_ACCOUNT_KEY}`,
        `TableEndpoint=${tables}`,
      ].join(';'),
      STOWAGE_TABLES_ENDPOINT: tables,
      STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
      STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    }),
  };
}
