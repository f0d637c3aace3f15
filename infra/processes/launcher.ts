// Notices when the npm that started this process is gone. SIGKILL of npm ends neither its shell nor
// this process, which would then run on for ever.
import { readFileSync } from 'node:fs';

const ASK_EVERY_MS = 1_000;
const SHELLS = new Set(['sh', 'dash', 'bash']);

/**
 * Calls `end` once npm is gone, within a second. Does nothing outside npm scripts; without /proc,
 * an npm behind a shell is not seen.
 */
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

/**
 * Identifies npm by the parents of this process and of the shell in between. They change when npm
 * ends: orphans get another parent.
 */
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
