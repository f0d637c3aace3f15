// Failures on demand: what the service does on a bad day, so that a client's answer to it can be tested.
import type { Call, Rpc } from './calls.ts';

export interface Faults {
  readonly isEmpty: boolean;
  run(rpc: Rpc, call: Call): Promise<Buffer>;
  clear(): void;
}

export function createFaults(): Faults {
  return {
    isEmpty: true,
    async run(_, call) {
      return call.run();
    },
    clear() {},
  };
}
