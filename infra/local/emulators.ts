// Starts both emulators and prints what to export: `npm run emulators -- [--datastore-port N] [--table-port N]`. Both are strict about their
// services' limits, hold their data in memory, and end with Ctrl-C.
import { parseArgs } from 'node:util';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startStrictAzurite } from './emulators/azurite.ts';
import { startEmbeddedDatastore } from './emulators/embedded.ts';
import type { Emulator } from './emulators/emulator.ts';
import { onLauncherEnd } from './launcher.ts';

const flag = { type: 'string', default: '0' } as const;
const { values } = parseArgs({ options: { 'datastore-port': flag, 'table-port': flag } });

const ports = { datastore: portOf(values['datastore-port']), tables: portOf(values['table-port']) };
const opened: Emulator[] = [];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end());
onLauncherEnd(() => void end());

const datastore = await startEmbeddedDatastore({ inProcess: true, port: ports.datastore });
opened.push(datastore);
const tables = await startStrictAzurite(ports.tables);
opened.push(tables);
const connection = [
  'DefaultEndpointsProtocol=http',
  `AccountName=${AZURITE_ACCOUNT_NAME}`,
  `AccountKey=${AZURITE_ACCOUNT_KEY}`,
  `TableEndpoint=${tables.endpoint}`,
].join(';');
console.log(`export DATASTORE_EMULATOR_HOST=${datastore.endpoint.replace('http://', '')}
export DATASTORE_PROJECT_ID=stowage-local
export AZURE_STORAGE_CONNECTION_STRING='${connection}'
export STOWAGE_TABLES_ENDPOINT=${tables.endpoint}
export STOWAGE_TABLES_ACCOUNT=${AZURITE_ACCOUNT_NAME}
export STOWAGE_TABLES_KEY=${AZURITE_ACCOUNT_KEY}`);

/** Also in the middle of starting: whoever started this may be gone before it is up. */
async function end(): Promise<void> {
  await Promise.all(opened.map((emulator) => emulator.close()));
  process.exit();
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`a port is from 0 to 65535, not ${text}`);
  return port;
}
