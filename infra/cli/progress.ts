// Shows a plan while it runs: on a terminal a table that is drawn again and again, elsewhere a line for each tenth of the plan.
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import type { PlanEvent } from '../../shared/lab/plan/outcome.ts';
import { LivePlan } from './live-table.ts';

/** Gives the listener for a plan's events. `nowMs` is a monotonic clock. */
export function showProgress(
  stream: NodeJS.WriteStream = process.stderr,
  nowMs = () => performance.now(),
): (event: PlanEvent) => void {
  const plan = new LivePlan(nowMs());
  const show = stream.isTTY ? drawing(stream) : telling(stream);
  return (event) => {
    plan.take(event);
    show(plan, event, nowMs());
  };
}

type Show = (plan: LivePlan, event: PlanEvent, nowMs: number) => void;

/** Draws over what it drew before, as much of it as the terminal holds. */
function drawing(stream: NodeJS.WriteStream): Show {
  let drawn = 0;
  return (plan, event, nowMs) => {
    // Ctrl-C has written something below the table by then.
    if (event.kind === 'removing') drawn = 0;
    const lines = plan.lines(nowMs).slice(-Math.max(1, stream.rows - 1));
    moveCursor(stream, 0, -drawn);
    cursorTo(stream, 0);
    clearScreenDown(stream);
    stream.write(`${lines.map((line) => line.slice(0, stream.columns - 1)).join('\n')}\n`);
    drawn = lines.length;
  };
}

function telling(stream: NodeJS.WriteStream): Show {
  let told = -1;
  return (plan, event, nowMs) => {
    if (event.kind === 'failed') stream.write(`failed: ${event.failure.error}\n`);
    if (event.kind !== 'begun' || plan.tenths() === told) return;
    told = plan.tenths();
    stream.write(`${plan.status(nowMs)}\n`);
  };
}
