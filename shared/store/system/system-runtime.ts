// The system's clock and chance. Only this folder touches Node's.
import { randomFillSync } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '../contract/runtime.ts';
import { BusyShare } from './busy-share.ts';

const busy = new BusyShare((since) => performance.eventLoopUtilization(since));

export const systemRuntime: Runtime = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => wait(ms, true, signal),
  watch: (ms, signal) => wait(ms, false, signal),
  nextTurn: () => immediate(),
  busyShare: () => busy.now(),
  random: (bytes) => randomFillSync(Buffer.allocUnsafe(bytes)),
};

async function wait(ms: number, keepsAlive: boolean, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, { ref: keepsAlive, ...(signal === undefined ? {} : { signal }) });
  } catch {
    // An abort ends the wait.
  }
}
