// Faults that a test installs. A call then fails as it would at the service.
import type { Rpc } from './rpc-calls.ts';
import { status, StatusError } from './wire/rpc-status.ts';

export type FaultCode = 'ABORTED' | 'UNAVAILABLE' | 'RESOURCE_EXHAUSTED' | 'DEADLINE_EXCEEDED' | 'INTERNAL';

/** Fails calls before anything is applied, or after everything was. */
export interface Fault {
  readonly code: FaultCode;
  readonly when: 'before' | 'after';
  /** Default: every call. */
  readonly rpc?: Rpc;
  /** How many calls it fails. Default: all until faults are cleared. */
  readonly times?: number;
}

export interface InstalledFault {
  /** How many calls the fault has failed. */
  readonly hits: number;
}

export interface Faults {
  add(fault: Fault): InstalledFault;
  clear(): void;
  /** Answers a call, or fails it by the first fault that applies. */
  run(rpc: Rpc, call: () => Buffer): Buffer;
}

export function createFaults(): Faults {
  const all = new Set<{ readonly fault: Fault; hits: number }>();
  return {
    add(fault) {
      const installed = { fault, hits: 0 };
      all.add(installed);
      return installed;
    },
    clear: () => all.clear(),
    run(rpc, call) {
      const met = [...all].find(({ fault }) => fault.rpc === undefined || fault.rpc === rpc);
      if (met === undefined) return call();
      met.hits += 1;
      if (met.hits === met.fault.times) all.delete(met);
      if (met.fault.when === 'after') call();
      throw new StatusError(status[met.fault.code], `injected ${met.fault.when} the call`);
    },
  };
}
