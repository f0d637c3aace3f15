// Faults that a test installs: failures as the service shows them, so that a client's handling of
// them can be tested.
import { setTimeout as delay } from 'node:timers/promises';
import type { Call, Rpc } from './calls.ts';
import { type KeyRef, lastIdentifier } from './entities/keys.ts';
import { status, StatusError } from './wire/status.ts';

export type FaultCode = 'ABORTED' | 'UNAVAILABLE' | 'RESOURCE_EXHAUSTED' | 'DEADLINE_EXCEEDED' | 'INTERNAL';

/** One entity, or a range of them. */
export interface KeyRange {
  readonly kind: string;
  /** Default: the default namespace. */
  readonly namespaceId?: string;
  /**
   * One entity: its name or id. Without it, from `from` to before `to` by name; without those too,
   * the whole kind.
   */
  readonly id?: string | number;
  readonly from?: string;
  readonly to?: string;
}

interface FaultScope {
  /** Default: every call. */
  readonly rpc?: Rpc;
  /** Only calls that name a key in it. */
  readonly keys?: KeyRange;
  /** The fault ends by itself after so many calls. Default: it stays until it is removed. */
  readonly times?: number;
}

export type Fault = FaultScope &
  (
    | { readonly kind: 'latency'; readonly delayMs: number }
    /** Fails before anything is applied, or after everything was. */
    | { readonly kind: 'fail'; readonly code: FaultCode; readonly when: 'before' | 'after' }
    /** Fails a non-transactional commit of which these mutations, by their index, were applied. */
    | { readonly kind: 'partial'; readonly code: FaultCode; readonly applied: readonly number[] }
    /** Fails calls beyond so many of the keys' entities a second. */
    | { readonly kind: 'throttle'; readonly code: FaultCode; readonly entitiesPerSecond: number }
  );

export interface InstalledFault {
  /** Calls the fault applied to; for a throttle, those it has failed. */
  readonly hits: number;
  /** Idempotent. */
  remove(): void;
}

export interface Faults {
  readonly isEmpty: boolean;
  add(fault: Fault): InstalledFault;
  clear(): void;
  /** Answers a call as the installed faults want it. */
  run(rpc: Rpc, call: Call): Promise<Buffer>;
}

interface Installed {
  readonly fault: Fault;
  hits: number;
  /** A throttle's tokens, and the time they were counted at. */
  allowance: number;
  countedMs: number;
}

/** `nowMs`: milliseconds since 1970, for throttles. */
export function createFaults(nowMs: () => number): Faults {
  const all = new Set<Installed>();

  /** The faults that apply to this call; counts it for each. */
  const take = (rpc: Rpc, call: Call): Fault[] =>
    [...all]
      .filter((installed) => meets(installed, rpc, call, nowMs()))
      .map((installed) => {
        installed.hits += 1;
        if (installed.hits === installed.fault.times) all.delete(installed);
        return installed.fault;
      });

  return {
    get isEmpty() {
      return all.size === 0;
    },
    add(fault) {
      const allowance = fault.kind === 'throttle' ? fault.entitiesPerSecond : 0;
      const installed: Installed = { fault, hits: 0, allowance, countedMs: nowMs() };
      all.add(installed);
      return {
        get hits() {
          return installed.hits;
        },
        remove: () => void all.delete(installed),
      };
    },
    clear: () => all.clear(),
    async run(rpc, call) {
      const faults = take(rpc, call);
      const delayMs = faults.reduce((sum, fault) => sum + (fault.kind === 'latency' ? fault.delayMs : 0), 0);
      if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
      const failure = faults.find((fault) => fault.kind !== 'latency');
      return failure === undefined ? call.run() : fail(failure, call);
    },
  };
}

function fail(fault: Exclude<Fault, { kind: 'latency' }>, call: Call): never {
  if (fault.kind === 'partial') call.run((index) => fault.applied.includes(index));
  if (fault.kind === 'fail' && fault.when === 'after') call.run();
  throw new StatusError(status[fault.code], `injected: ${fault.kind}`);
}

function meets(installed: Installed, rpc: Rpc, call: Call, nowMs: number): boolean {
  const { fault } = installed;
  if (fault.rpc !== undefined && fault.rpc !== rpc) return false;
  if (fault.kind === 'partial' && !call.divisible) return false;
  const { keys } = fault;
  const concerned = keys === undefined ? call.keys : call.keys.filter((key) => isIn(keys, key));
  if (keys !== undefined && concerned.length === 0) return false;
  return fault.kind !== 'throttle' || exceeds(installed, fault.entitiesPerSecond, concerned.length, nowMs);
}

/** A token bucket that holds one second's worth. A refused call takes no tokens. */
function exceeds(installed: Installed, perSecond: number, count: number, nowMs: number): boolean {
  const refill = ((nowMs - installed.countedMs) / 1_000) * perSecond;
  installed.allowance = Math.min(perSecond, installed.allowance + refill);
  installed.countedMs = nowMs;
  if (count > installed.allowance) return true;
  installed.allowance -= count;
  return false;
}

function isIn({ kind, namespaceId = '', id, from, to }: KeyRange, key: KeyRef): boolean {
  if (key.kind !== kind || key.namespaceId !== namespaceId) return false;
  const own = lastIdentifier(key);
  if (id !== undefined) return own === id;
  if (from === undefined && to === undefined) return true;
  return typeof own === 'string' && (from === undefined || own >= from) && (to === undefined || own < to);
}
