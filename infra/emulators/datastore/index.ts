// What the emulator offers to a program that starts it itself.
export type { Fault, FaultCode, Faults, InstalledFault, KeyRange } from './faults.ts';
export type { DatastoreEmulator, EmulatorOptions } from './server.ts';
export { startDatastoreEmulator } from './server.ts';
