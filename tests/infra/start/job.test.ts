// A job that is interrupted, in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { SAME_INTERRUPT_MS } from '../../../infra/cli/interrupt.ts';

const JOB = new URL('../../../infra/start/job.ts', import.meta.url).href;

/**
 * A job that, once it is interrupted, returns 7 if it `ends`. Its clock moves `stepMs` at each
 * signal, after which it says `heard`.
 */
function startJob({ ends, stepMs }: { ends: boolean; stepMs: number }) {
  const code = `
    import { runJob } from '${JOB}';
    let nowMs = 0;
    performance.now = () => nowMs;
    const code = runJob((signal) => new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        console.log(signal.reason.message);
        if (${ends}) resolve(7);
      });
      setInterval(() => {}, 60_000);
    }), 600_000);
    process.on('SIGINT', () => {
      nowMs += ${stepMs};
      console.log('heard');
    });
    console.log('ready');
    process.exit(await code);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('an interrupted job learns the reason, and ends with an exit code of its own', async () => {
  const job = startJob({ ends: true, stepMs: 0 });
  const ended = once(job, 'exit');
  let said = '';
  for await (const chunk of job.stdout.setEncoding('utf8')) {
    said += String(chunk);
    if (said === 'ready\n') job.kill('SIGINT');
  }
  expect(said).toBe('ready\nended by SIGINT\nheard\n');
  expect(await ended).toEqual([7, null]);
});

test.each([
  ['at once by a second interrupt', SAME_INTERRUPT_MS + 1, 2],
  ['by a third one, where the second is the same once more', SAME_INTERRUPT_MS / 2 + 1, 3],
])('a job that goes on is ended %s', async (_name, stepMs, interrupts) => {
  const job = startJob({ ends: false, stepMs });
  const ended = once(job, 'exit');
  const lines = createInterface({ input: job.stdout });
  let heard = 0;
  for await (const line of lines) {
    if (line === 'heard') heard += 1;
    if (line === 'ready' || line === 'heard') job.kill('SIGINT');
  }
  expect(await ended).toEqual([130, null]);
  expect(heard).toBe(interrupts - 1);
});
