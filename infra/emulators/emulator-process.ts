// The process of one emulator, which prints its endpoint:
// `emulator-process.ts datastore|azurite|strict-azurite`.
import { parseArgs } from 'node:util';
import { startAzurite, startStrictAzurite } from './azurite.ts';
import { type Network, NO_NETWORK, slowCloud } from './emulated-network.ts';

const text = { type: 'string' } as const;
const options = { data: text, network: text, port: text } as const;
const { positionals, values } = parseArgs({ options, allowPositionals: true });
const { data: dataFile } = values;
const port = Number(values.port ?? 0);
const network = values.network === undefined ? NO_NETWORK : (JSON.parse(values.network) as Network);

async function start(name: string | undefined): Promise<{ readonly endpoint: string }> {
  if (name === 'azurite') return await startAzurite({ inProcess: true, dataFile });
  if (name === 'strict-azurite')
    return await startStrictAzurite({ port, network: slowCloud(network.profiles['azure-tables']) });
  // Only here, as gRPC takes long to load.
  const { startDatastoreEmulator } = await import('./datastore/index.ts');
  const cloud = network.name === 'none' ? undefined : slowCloud(network.profiles.datastore);
  const { address } = await startDatastoreEmulator({ port, dataFile, network: cloud });
  return { endpoint: `http://${address}` };
}

const { endpoint } = await start(positionals[0]);
console.log(`listening on ${endpoint} as process ${process.pid}`);
