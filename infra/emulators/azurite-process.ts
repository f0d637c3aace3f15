// Azurite's table service as a process: prints its address and serves until it is killed. Started
// by azurite.ts under the supervisor.
import { startTableServer } from './azurite.ts';

const { address } = await startTableServer();
console.log(`listening on ${address}`);
