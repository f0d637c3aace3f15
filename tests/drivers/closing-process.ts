// Closes its driver while requests are under way, prints what became of them, and should then end.
// It waits for a byte from its parent.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { driverAt, type DriverName, type Transport } from './emulated.ts';
import { entityId } from '../support/ids.ts';
import { READ } from './one-of-each.ts';

const [name, transport, port, space] = process.argv.slice(2) as [DriverName, Transport, string, string];
const ENDLESS = { timeoutMs: 600_000 };

const driver = driverAt(name, transport, Number(port), space);
await driver.read(READ, { timeoutMs: 20_000 });
console.log('connected');
await once(process.stdin, 'data');
const reading = driver.read(READ, ENDLESS).catch((error: { code: string }) => error.code);
const writing = driver.write([{ kind: 'insert', id: entityId('b'), parts: [] }], ENDLESS);
// Until they have been sent, as far as it goes.
await sleep(100);
await driver.close();
const [outcome] = await writing;
console.log(await reading, outcome?.kind);
