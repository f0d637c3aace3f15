// Azurite's table service as a process, started by azurite.ts. Prints its endpoint.
import { parseArgs } from 'node:util';
import { startAzurite, startStrictAzurite } from './azurite.ts';

const text = { type: 'string' } as const;
const { data, 'strict-port': strictPort } = parseArgs({ options: { data: text, 'strict-port': text } }).values;

const { endpoint } =
  strictPort === undefined
    ? await startAzurite({ inProcess: true, dataFile: data })
    : await startStrictAzurite({ port: Number(strictPort) });
console.log(`listening on ${endpoint}`);
