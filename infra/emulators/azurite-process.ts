// Azurite's table service as a process, started by azurite.ts. Prints its address.
import { startTableServer } from './azurite.ts';

const { address } = await startTableServer();
console.log(`listening on ${address}`);
