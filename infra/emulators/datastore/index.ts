// The emulator for a program that starts it in its own process.
export type { Fault, FaultCode, Faults, InstalledFault } from './rpc-faults.ts';
export type { DatastoreEmulator, EmulatorOptions } from './server.ts';
export { startDatastoreEmulator } from './server.ts';
