// The process that embedded.ts starts for the Datastore emulator. It prints its endpoint.
import { parseArgs } from 'node:util';
import { startEmbeddedDatastore } from './embedded.ts';
import type { Network } from './emulated-network.ts';

const text = { type: 'string' } as const;
const { data, network, port } = parseArgs({ options: { data: text, network: text, port: text } }).values;

const { endpoint } = await startEmbeddedDatastore({
  inProcess: true,
  port: Number(port),
  dataFile: data,
  network: JSON.parse(network!) as Network,
});
console.log(`listening on ${endpoint} as process ${process.pid}`);
