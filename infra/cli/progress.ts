// Tells how far a plan is: on a terminal in one line that changes, elsewhere in a line for each
// tenth.
import { clearLine, cursorTo } from 'node:readline';
import type { PlanEvent } from '../../shared/lab/plan/outcome.ts';
import { cellWords } from '../../shared/lab/report/names.ts';
import { printable } from './print.ts';

/** Gives the listener for a plan's events. `nowMs` is a monotonic clock. */
export function showProgress(
  stream: NodeJS.WriteStream = process.stderr,
  nowMs = () => performance.now(),
): (event: PlanEvent) => void {
  // A comparison whose progress nobody reads any more, as by `2>&1 | head`, ends in order.
  stream.on('error', () => {});
  const startedMs = nowMs();
  let [done, total, failed, told] = [0, 0, 0, -1];
  return (event) => {
    if ('dataset' in event) return;
    if ('done' in event) ({ done, total } = event);
    if (event.kind === 'failed') {
      failed += 1;
      stream.write(`${stream.isTTY ? '\n' : ''}failed: ${printable(event.failure.error)}\n`);
    }
    const doing = doingOf(event);
    const tenth = Math.floor((10 * done) / total);
    if (doing === undefined || (!stream.isTTY && (event.kind !== 'begun' || tenth === told))) return;
    told = tenth;
    const count = `${done} of ${total} runs${failed === 0 ? '' : `, ${failed} failed`}`;
    write(stream, `${count}${leftWords(nowMs() - startedMs, done, total)}: ${doing}`);
  };
}

function doingOf(event: Exclude<PlanEvent, { readonly dataset: string }>): string | undefined {
  if ('what' in event) return `${event.kind} ${event.what}`;
  return event.kind === 'begun' ? `${cellWords(event.cell)}, run ${event.repetition}` : undefined;
}

function leftWords(tookMs: number, done: number, total: number): string {
  if (done === 0) return '';
  const seconds = (tookMs / 1_000 / done) * (total - done);
  return `, about ${seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`} left`;
}

function write(stream: NodeJS.WriteStream, line: string): void {
  if (!stream.isTTY) return void stream.write(`${line}\n`);
  cursorTo(stream, 0);
  clearLine(stream, 0);
  stream.write(line.slice(0, stream.columns - 1));
}
