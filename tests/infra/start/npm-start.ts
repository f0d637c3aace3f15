// `npm start` in a process of its own, and all that it starts.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { readReport } from '../../../infra/cli/report-files.ts';
import { testFolder } from '../../support/folder.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs that are as short as they may be. */
const ARGS = '--callers 2 --records 50 --seconds 0.1 --network none'.split(' ');

/** Names a process in the environment of all that it starts. */
const MARK = 'STOWAGE_TEST_MARK';

interface Process {
  readonly pid: number;
  readonly command: string;
}

/** Everything that was started with the mark and runs still; nothing where there is no `/proc`. */
function processesOf(mark: string): Process[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => {
    try {
      const isOwn = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`${MARK}=${mark}`);
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return isOwn && command !== '' ? [{ pid: Number(name), command }] : [];
    } catch {
      return [];
    }
  });
}

/** Its options after `npm start --`. It is ended with the test. */
export async function npmStart(...args: string[]) {
  const folder = await testFolder();
  const mark = randomUUID();
  const job = spawn(process.execPath, ['infra/run.mjs', 'start', ...ARGS, ...args, '--out', folder], {
    cwd: ROOT,
    env: { ...process.env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void job.kill('SIGKILL'));
  let said = '';
  const exit = once(job, 'exit') as Promise<[code: number | null, signal: string | null]>;
  /** Resolves when both of its streams together have said it. Rejects if it ends before. */
  const until = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (pattern.test(said)) resolve();
      };
      look();
      for (const stream of [job.stdout, job.stderr]) stream.on('data', look);
      void exit.then(() => reject(new Error(`it ended before it said ${pattern}:\n${said}`)));
    });
  for (const stream of [job.stdout, job.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return {
    job,
    exit,
    until,
    said: () => said,
    /** Processes of its own that still run. */
    running: () => processesOf(mark),
    report: () => readReport(path.join(folder, 'compare.json')),
  };
}
