// Prints how far work has come: on a terminal in one line that is drawn again, elsewhere in lines.
// `nowMs` is a monotonic clock.
import type { PlanEvent } from '../../shared/lab/plan/outcome.ts';
import { cellWords } from '../../shared/lab/report/names.ts';
import { draw, erase, printable, warn } from './print.ts';

const BAR_CELLS = 24;
const DRAWN_MS = 100;
const LINE_MS = 1_000;

/** Prints ten lines a second on a terminal, with a bar if `share` is known; elsewhere one. */
export function progress(
  stream: NodeJS.WriteStream = process.stderr,
  nowMs = () => performance.now(),
): (text: string, share?: number) => void {
  const everyMs = stream.isTTY ? DRAWN_MS : LINE_MS;
  let nextMs = nowMs() + everyMs;
  return (text, share) => {
    if (nowMs() < nextMs) return;
    nextMs = nowMs() + everyMs;
    if (stream.isTTY) draw(share === undefined ? text : `${barOf(Math.min(1, share))} ${text}`, stream);
    else warn(text);
  };
}

function barOf(share: number): string {
  const bar = '#'.repeat(Math.floor(BAR_CELLS * share)).padEnd(BAR_CELLS, '.');
  return `[${bar}] ${String(Math.floor(100 * share)).padStart(3)} %`;
}

/** Listens to a plan's events. Elsewhere than on a terminal it prints a line per tenth. */
export function showProgress(
  stream: NodeJS.WriteStream = process.stderr,
  nowMs = () => performance.now(),
): (event: PlanEvent) => void {
  // After `2>&1 | head` nobody reads the progress any more: the comparison still ends in order.
  stream.on('error', () => {});
  const startedMs = nowMs();
  let [done, total, failed, told] = [0, 0, 0, -1];
  return (event) => {
    if ('dataset' in event) return;
    if ('done' in event) ({ done, total } = event);
    if (event.kind === 'failed') {
      failed += 1;
      erase();
      stream.write(`failed: ${printable(event.failure.error)}\n`);
    }
    const doing = doingOf(event);
    const tenth = Math.floor((10 * done) / total);
    if (doing === undefined || (!stream.isTTY && (event.kind !== 'begun' || tenth === told))) return;
    told = tenth;
    const count = `${done} of ${total} runs${failed === 0 ? '' : `, ${failed} failed`}`;
    const line = `${count}${leftWords(nowMs() - startedMs, done, total)}: ${doing}`;
    if (stream.isTTY) draw(line, stream);
    else stream.write(`${line}\n`);
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
