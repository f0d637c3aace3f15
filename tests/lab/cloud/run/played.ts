// A load in virtual time, in phases that end by a budget. The test says how it is served.
import { type Arrivals, gapsOf } from '../../../../shared/lab/load/arrivals.ts';
import { runPhases, type WindowResult } from '../../../../shared/lab/load/window.ts';
import { seededRandom } from '../../../../shared/lab/kit/random.ts';
import { type Budget, BudgetPhases, type WindowListener } from '../../../../shared/lab/cloud/run/budget.ts';
import { InstanceRuntime } from '../../../../shared/lab/cloud/instance/runtime.ts';
import type { Scheduler } from '../../../../shared/lab/cloud/time/scheduler.ts';

interface Playing {
  readonly scheduler: Scheduler;
  readonly load: number | Arrivals;
  readonly budget: Partial<Budget>;
  readonly serve: (caller: number) => Promise<unknown>;
  readonly drainMs?: number;
  readonly listener?: WindowListener;
}

const SILENT: WindowListener = { opened: () => undefined, closed: () => undefined };

/** Plays calls of one record. */
export async function played(playing: Playing): Promise<WindowResult> {
  const { scheduler, load, budget, serve, drainMs = 10_000, listener = SILENT } = playing;
  const whole = { warmupMs: 0, warmupOperationsMax: 1e9, windowMs: 1e9, operationsMax: 1e9, ...budget };
  const runtime = new InstanceRuntime(scheduler, seededRandom(1));
  runtime.nextTurn = () => runtime.watch(1);
  const send = async (caller: number) => {
    await serve(caller);
    return [];
  };
  const result = runPhases((caller) => [[{ records: 1, send: () => send(caller) }]], {
    callers: typeof load === 'number' ? load : Infinity,
    gapMs: typeof load === 'number' ? null : gapsOf(load, seededRandom(3)),
    durationMs: whole.windowMs,
    drainMs,
    signal: new AbortController().signal,
    runtime,
    ramp: undefined,
    phases: new BudgetPhases(scheduler, whole, listener),
  });
  await scheduler.run(result, 1e9);
  return result;
}
