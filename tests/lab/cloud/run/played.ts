// A load in virtual time, in phases that end by a budget. The test says how it is served.
import { type Arrivals, gapsOf } from '../../../../shared/lab/load/arrivals.ts';
import { runPhases, type WindowResult } from '../../../../shared/lab/load/window.ts';
import { seededRandom } from '../../../../shared/lab/kit/random.ts';
import { type Budget, BudgetPhases } from '../../../../shared/lab/cloud/run/budget.ts';
import { LoadRuntime } from '../../../../shared/lab/cloud/instance/runtime.ts';
import type { Scheduler } from '../../../../shared/lab/kit/scheduler.ts';

interface Playing {
  readonly scheduler: Scheduler;
  readonly load: number | Arrivals;
  readonly budget: Partial<Budget>;
  readonly serve: (caller: number) => Promise<unknown>;
  readonly drainMs?: number;
  /** Taken as the window opens, and as it closes. */
  readonly mark?: () => number;
}

/** Plays calls of one record. */
export async function played(playing: Playing): Promise<WindowResult & { readonly marks: readonly number[] }> {
  const { scheduler, load, budget, serve, drainMs = 10_000, mark = () => scheduler.nowMs } = playing;
  const whole = { warmupMs: 0, warmupOperationsMax: 1e9, windowMs: 1e9, operationsMax: 1e9, ...budget };
  const runtime = new LoadRuntime(scheduler, seededRandom(1));
  const send = async (caller: number) => {
    await serve(caller);
    return [];
  };
  const phases = new BudgetPhases(scheduler, whole, mark);
  const result = runPhases((caller) => [[{ records: 1, send: () => send(caller) }]], {
    callers: typeof load === 'number' ? load : Infinity,
    gapMs: typeof load === 'number' ? null : gapsOf(load, seededRandom(3)),
    drainMs,
    signal: new AbortController().signal,
    runtime,
    phases,
  });
  await scheduler.run(result, 1e9);
  return { ...(await result), marks: phases.marks };
}
