// What `npm run dev` rests on: a job that is interrupted, a folder with one user, a watch of
// clouds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SAME_INTERRUPT_MS } from '../../../infra/cli/interrupt.ts';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { lockFolder } from '../../../infra/start/lock-folder.ts';
import { testFolder } from '../../support/folder.ts';
import { startSupervised } from '../../../infra/processes/supervised.ts';
import { watch } from '../../../infra/start/local-clouds.ts';

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

test('a folder that another process uses is refused, and free again once it is given back', async () => {
  const folder = await testFolder();
  const release = await lockFolder('--data', folder);
  await expect(lockFolder('--data', folder)).rejects.toThrow(`is in use by process ${process.pid}`);
  await release();
  const again = await lockFolder('--data', folder);
  await expect(again()).resolves.toBeUndefined();
});

test('the lock of a process that has ended does not count', async () => {
  const folder = await testFolder();
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(ended, 'exit');
  await writeFile(path.join(folder, 'in-use-by-process'), String(ended.pid));
  const again = await lockFolder('--data', folder);
  await expect(again()).resolves.toBeUndefined();
});

test('a watch prints only the errors of a log, and says which process has ended', async () => {
  const lines = [{ severity: 'INFO' }, { severity: 'ERROR', code: 'internal' }, { message: '"severity":"ERROR"' }];
  const code = `${lines.map((line) => `console.log(${JSON.stringify(JSON.stringify(line))});`).join('')} process.exit(3)`;
  const child = startSupervised(process.execPath, ['--eval', code]);
  onTestFinished(() => child.close());
  const printed: string[] = [];
  const host = { ...child, url: 'http://127.0.0.1' };
  const cloud = { name: 'Cloud', ended: new AbortController().signal, hosts: [['records', host]] } as const;
  const why = await new Promise<string>((resolve) => watch(cloud, (line) => void printed.push(line), resolve));
  expect(why).toContain('Cloud: the process of records has ended with exit code 3; its last output:\n{');
  await expect.poll(() => printed).toEqual(['Cloud, records: {"severity":"ERROR","code":"internal"}']);
});

test('a watch says that an emulator has ended, also one that ended before', () => {
  const ends: string[] = [];
  const controller = new AbortController();
  const cloud = { name: 'Cloud', ended: controller.signal, hosts: [] };
  const begin = () => watch(cloud, vi.fn(), (why) => void ends.push(why));
  begin();
  controller.abort(new Error('emulator has ended'));
  begin();
  expect(ends).toEqual(['Cloud: emulator has ended', 'Cloud: emulator has ended']);
});
