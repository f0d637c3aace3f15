// Starts both emulators, strict and in memory, and prints what to export. Ctrl-C ends them.
import { EXIT } from '../cli/exit.ts';
import { command, runCommand, UsageError, wholeNumber } from '../cli/command-options.ts';
import { onLauncherEnd } from '../processes/launcher.ts';
import { freePort } from '../processes/supervised.ts';
import { clientsEnvironment, startStrictProcess } from './azurite.ts';
import type { Emulator } from './emulator.ts';
import { NETWORK, type Network } from './emulated-network.ts';
import { DATASTORE, type DatastoreName, datastoreOf, networkBefore, startDatastore } from './which-datastore.ts';

const PORT_MAX = 65_535;

const EMULATORS = command({
  name: 'npm run emulators --',
  about: `Starts an emulator of Google Cloud Datastore and one of Azure Table Storage, prints what to export for their clients, and
keeps them up until Ctrl-C. Both refuse what their services would refuse. The data is gone when this ends.`,
  options: {
    datastore: DATASTORE,
    network: { ...NETWORK, help: `${NETWORK.help}; default none` },
    'datastore-port': { value: 'N', default: '0', help: 'port of the Datastore emulator, 0 for a free one' },
    'table-port': { value: 'N', default: '0', help: 'port of the table service, 0 for a free one' },
  },
  examples: [
    'npm run emulators',
    'npm run emulators -- --datastore google',
    'npm run emulators -- --network cloud',
    'npm run emulators -- --datastore-port 8081 --table-port 10002',
  ],
});

await runCommand(EMULATORS, process.argv.slice(2), async ({ values }) => {
  const datastorePort = await portOf('--datastore-port', values['datastore-port']);
  const tablePort = await portOf('--table-port', values['table-port']);
  const datastore = datastoreOf(values.datastore);
  const network = networkBefore(datastore, values.network, 'none');
  await startBoth(datastore, network, datastorePort, tablePort);
});

/** Throws a UsageError, also if the port is in use. */
async function portOf(option: string, text: string): Promise<number> {
  const port = wholeNumber(option, text, 0, PORT_MAX);
  if (port > 0)
    await freePort(port).catch((error: unknown) => {
      throw new UsageError(`${option}: ${error instanceof Error ? error.message : String(error)}`);
    });
  return port;
}

async function startBoth(name: DatastoreName, network: Network, datastorePort: number, tablePort: number) {
  const opened: Emulator[] = [];
  let isEnding = false;
  const end = async (code: number, why?: unknown): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    if (why !== undefined) console.error(why);
    await Promise.all(opened.map((emulator) => emulator.close()));
    process.exit(code);
  };
  // Listens before the emulators start, because npm may end before they are ready.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end(EXIT.ok));
  onLauncherEnd(() => void end(EXIT.ok));
  const open = async (starting: Promise<Emulator>): Promise<Emulator> => {
    const emulator = await starting;
    opened.push(emulator);
    void emulator.exited?.then(() => end(EXIT.failed, `${emulator.name} has ended`));
    return emulator;
  };
  try {
    const datastore = await open(startDatastore(name, { port: datastorePort, network }));
    const tables = await open(startStrictProcess({ port: tablePort, network }));
    const variables = Object.entries(clientsEnvironment(datastore.endpoint, tables.endpoint));
    for (const [name, value] of variables) console.log(`export ${name}=${value.includes(';') ? `'${value}'` : value}`);
  } catch (error) {
    await end(EXIT.failed, error);
  }
}
