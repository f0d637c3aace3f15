// The emulator as a command: `node start-datastore.ts [--host 127.0.0.1] [--port 0] [--data FILE]`.
// Prints the variable to export.
import { parseArgs } from 'node:util';
import { startDatastoreEmulator } from './index.ts';

const flag = { type: 'string' } as const;
const { values } = parseArgs({ options: { host: flag, port: flag, data: flag } });
const port = Number(values.port ?? '0');
if (!Number.isInteger(port) || port < 0 || port > 65_535)
  throw new Error(`--port must be from 0 to 65535: ${values.port}`);

const emulator = await startDatastoreEmulator({ host: values.host, port, dataFile: values.data });
console.log(`export DATASTORE_EMULATOR_HOST=${emulator.address}`);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void emulator.close());
