// What the emulator offers to a program that starts it itself.
export type { DatastoreEmulator, EmulatorOptions } from './server.ts';
export { startDatastoreEmulator } from './server.ts';
