// Runs one command, and kills its process group when standard input closes, also by SIGKILL of the
// parent. Started by supervised.ts, never imported.
import { spawn } from 'node:child_process';

const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });

function killGroup(): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

child.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
child.once('exit', (code) => {
  killGroup();
  process.exit(code ?? 1);
});
process.stdin.once('close', killGroup);
process.stdin.resume();
// These signals may be meant for the parent; they end the child too, and its exit then ends this
// process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, killGroup);
