// Who sends the operations. A closed loop: callers who wait for each reply. An open loop: arrivals that wait for nothing, whose latency counts
// from the moment they were due; a closed loop alone would leave out what nobody could ask while the service stood still (Gil Tene calls that
// coordinated omission).
import type { Random } from '../../kit/random.ts';
import { type Arrivals, gapsOf } from '../../load/arrivals.ts';
import type { Fleet } from '../instance/fleet.ts';
import type { Instance } from '../instance/instance.ts';
import type { Scheduler } from '../time/scheduler.ts';
import type { Operation } from './operations.ts';
import type { Window } from './window.ts';

export interface Loop {
  readonly scheduler: Scheduler;
  readonly fleet: Fleet;
  readonly window: Window;
  readonly nextOperation: () => Operation;
  /** Does the operation on the instance. */
  readonly call: (instance: Instance, operation: Operation) => Promise<void>;
}

/** A caller whose calls fail at once would never let time pass. */
const PAUSE_AFTER_ERROR_MS = 1;

/** Resolves when the window is over and every caller has had its last reply. */
export async function closedLoop(loop: Loop, callers: number): Promise<void> {
  await Promise.all(Array.from({ length: callers }, (_, caller) => callAgain(loop, caller)));
}

async function callAgain(loop: Loop, caller: number): Promise<void> {
  const { scheduler, window } = loop;
  while (!window.isOver) {
    const isAnswered = await callOnce(loop, caller, scheduler.nowMs);
    if (!isAnswered) await scheduler.after(PAUSE_AFTER_ERROR_MS);
  }
}

/** Resolves when the window is over and every operation that arrived has been answered. */
export async function openLoop(loop: Loop, arrivals: Arrivals, random: Random): Promise<void> {
  const { scheduler, window } = loop;
  const gapMs = gapsOf(arrivals, random);
  const calls = new Set<Promise<unknown>>();
  for (let dueMs = scheduler.nowMs, arrival = 0; !window.isOver; arrival += 1) {
    dueMs += gapMs();
    await scheduler.after(dueMs - scheduler.nowMs);
    const call: Promise<unknown> = callOnce(loop, arrival, dueMs).finally(() => calls.delete(call));
    calls.add(call);
  }
  await Promise.all(calls);
}

async function callOnce({ fleet, window, nextOperation, call }: Loop, caller: number, begunMs: number) {
  const operation = window.begin(caller, begunMs);
  const instance = await fleet.take(caller);
  try {
    await call(instance, nextOperation());
    window.end(operation);
    return true;
  } catch (error) {
    window.end(operation, error);
    return false;
  } finally {
    fleet.release(instance);
  }
}
