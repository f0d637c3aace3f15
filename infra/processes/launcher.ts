// Notices the end of the npm that started this process: killing npm ends neither shell nor process.
import { readFileSync } from 'node:fs';

const ASK_EVERY_MS = 1_000;
const SHELLS = new Set(['sh', 'dash', 'bash']);

/** Calls `end` within a second, in npm scripts alone. Without /proc, a shell hides npm's end. */
export function onLauncherEnd(end: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const before = launcher();
  const timer = setInterval(() => {
    if (launcher() === before) return;
    clearInterval(timer);
    end();
  }, ASK_EVERY_MS);
  timer.unref();
}

/** The parents of this process and of its shell, which change when npm ends. */
function launcher(): string {
  const [name, parent] = statusOf(process.ppid);
  return SHELLS.has(name) ? `${process.ppid} ${parent}` : String(process.ppid);
}

/** Name and parent of a process; both empty where there is no /proc. */
function statusOf(pid: number): readonly [name: string, parent: string] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return [/^Name:\s*(.*)$/m.exec(status)?.[1] ?? '', /^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? ''];
  } catch {
    return ['', ''];
  }
}
