// The process of one emulator, which prints its endpoint:
// `emulator-process.ts datastore|azurite|strict-azurite`.
import { parseArgs } from 'node:util';
import { startAzurite, startStrictAzurite } from './azurite.ts';
import { networkOf, profileOf, slowCloud } from './emulated-network.ts';

const text = { type: 'string' } as const;
const options = { data: text, network: text, port: text } as const;
const { positionals, values } = parseArgs({ options, allowPositionals: true });
const { data: dataFile } = values;
const port = Number(values.port ?? 0);
const network = networkOf(values.network ?? 'none');

async function start(name: string | undefined): Promise<{ readonly endpoint: string }> {
  if (name === 'azurite') return await startAzurite({ inProcess: true, dataFile });
  if (name === 'strict-azurite')
    return await startStrictAzurite({ port, network: slowCloud(profileOf(network, 'azure-tables')) });
  // Only here, as gRPC takes long to load.
  const { startDatastoreEmulator } = await import('./datastore/index.ts');
  const cloud = network === 'none' ? undefined : slowCloud(profileOf(network, 'datastore'));
  const { address } = await startDatastoreEmulator({ port, dataFile, network: cloud });
  return { endpoint: `http://${address}` };
}

const { endpoint } = await start(positionals[0]);
console.log(`listening on ${endpoint} as process ${process.pid}`);
