// The process that azurite.ts starts for Azurite's table service. It prints its endpoint.
import { parseArgs } from 'node:util';
import { startAzurite, startStrictAzurite } from './azurite.ts';
import { type Network, slowCloud } from './emulated-network.ts';

const text = { type: 'string' } as const;
const options = { data: text, 'strict-port': text, network: text } as const;
const { data, 'strict-port': strictPort, network } = parseArgs({ options }).values;

const { endpoint } =
  strictPort === undefined
    ? await startAzurite({ inProcess: true, dataFile: data })
    : await startStrictAzurite({
        port: Number(strictPort),
        network: slowCloud((JSON.parse(network!) as Network).profiles['azure-tables']),
      });
console.log(`listening on ${endpoint} as process ${process.pid}`);
