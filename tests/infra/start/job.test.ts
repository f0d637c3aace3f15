// A job that is interrupted, in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SAME_INTERRUPT_MS } from '../../../infra/cli/interrupt.ts';

const JOB = new URL('../../../infra/start/job.ts', import.meta.url).href;

/** A job that, once it is interrupted, takes `endMs` to write what there is, and returns 7. */
function startJob(endMs: number) {
  const code = `
    import { runJob } from '${JOB}';
    process.exitCode = await runJob((signal) => new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        console.log(signal.reason.message);
        setTimeout(() => resolve(7), ${endMs});
      });
      setInterval(() => {}, 60_000).unref();
      setTimeout(() => {}, 20_000);
      console.log('ready');
    }), 15_000);
    process.exit();`;
  return spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('ends as it sees fit, with its own exit code, and knows why', async () => {
  const job = startJob(10);
  const ended = once(job, 'exit');
  let said = '';
  for await (const chunk of job.stdout.setEncoding('utf8')) {
    said += String(chunk);
    if (said === 'ready\n') job.kill('SIGINT');
  }
  expect(said).toBe('ready\nended by SIGINT\n');
  expect(await ended).toEqual([7, null]);
});

test('is ended at once by a second interrupt, unless that is the same once more', async () => {
  const job = startJob(10_000);
  const ended = once(job, 'exit');
  await once(job.stdout, 'data');
  job.kill('SIGINT');
  await once(job.stdout, 'data');
  job.kill('SIGINT');
  await sleep(SAME_INTERRUPT_MS + 300);
  expect(job.exitCode).toBeNull();
  job.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
});
