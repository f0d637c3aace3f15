// The process that embedded.ts starts for the Datastore emulator. It prints its endpoint.
import { parseArgs } from 'node:util';
import { startEmbeddedDatastore } from './embedded.ts';
import { networkOf } from './emulated-network.ts';

const text = { type: 'string' } as const;
const { data, network = 'none', port } = parseArgs({ options: { data: text, network: text, port: text } }).values;

const { endpoint } = await startEmbeddedDatastore({
  inProcess: true,
  port: Number(port),
  dataFile: data,
  network: networkOf(network),
});
console.log(`listening on ${endpoint} as process ${process.pid}`);
