// `npm start` that is ended early, or loses an emulator, in a process of its own: it leaves a report of what there is, and nothing that runs or listens.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../../infra/cli/exit.ts';
import { readReport } from '../../../infra/cli/report-files.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** One cell a cloud, more often than anybody waits for. */
const ARGS = '--workloads ycsb-c --layouts record --callers 2 --records 50 --seconds 0.1 --repetitions 50'.split(' ');

/** Names a process in the environment of all that it starts. */
const MARK = 'STOWAGE_TEST_MARK';

interface Process {
  readonly pid: number;
  readonly command: string;
}

/** Everything that was started with the mark and runs still. */
function processesOf(mark: string): Process[] {
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

async function started(...args: string[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'interrupt-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const mark = randomUUID();
  const job = spawn(process.execPath, ['infra/run.mjs', 'start', ...ARGS, ...args, '--out', folder], {
    cwd: ROOT,
    env: { ...process.env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void job.kill('SIGKILL'));
  const exit = once(job, 'exit') as Promise<[code: number | null, signal: string | null]>;
  const said = { out: '', err: '' };
  job.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  const measuring = new Promise<void>((resolve, reject) => {
    job.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.err += text;
      if (/^[1-9]\d* of \d+ runs/m.test(said.err)) resolve();
    });
    void exit.then(() => reject(new Error(`it ended before it measured:\n${said.out}\n${said.err}`)));
  });
  await measuring;
  return { job, exit, said, mark, report: () => readReport(path.join(folder, 'compare.json')) };
}

const ports = (out: string): string[] =>
  [...out.matchAll(/functions at (http:\/\/127\.0\.0\.1:\d+)/g)].map(([, url]) => url!);

describe.skipIf(process.platform !== 'linux')('npm start', { timeout: 180_000 }, () => {
  test('ended by Ctrl-C leaves a report of what there is, and nothing else', async () => {
    const { job, exit, said, mark, report } = await started('--cloud', 'gcp');
    expect(processesOf(mark).length).toBeGreaterThan(2);
    job.kill('SIGINT');
    expect(await exit).toEqual([EXIT.interrupted, null]);
    const { endedEarly, cells, failures, leftovers } = await report();
    expect({ endedEarly, failures, leftovers }).toEqual({
      endedEarly: 'ended by SIGINT',
      failures: [],
      leftovers: [],
    });
    expect(cells[0]!.runs.length).toBeGreaterThan(0);
    expect(cells[0]!.runs.length).toBeLessThan(50);
    expect(processesOf(mark)).toEqual([]);
    expect(ports(said.out)).toHaveLength(1);
    for (const url of ports(said.out)) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('that loses an emulator says so, gives that cloud up, and goes on with the other', async () => {
    const { exit, mark, report } = await started('--cloud', 'both', '--repetitions', '12');
    const emulator = processesOf(mark).find(({ command }) => /^\S*node \S*azurite-process\.ts/.test(command));
    process.kill(emulator!.pid, 'SIGKILL');
    expect(await exit).toEqual([EXIT.failed, null]);
    const { endedEarly, cells, failures } = await report();
    expect(endedEarly).toBeNull();
    expect(cells.find(({ provider }) => provider === 'datastore')!.runs).toHaveLength(12);
    expect(new Set(failures.map(({ provider }) => provider))).toEqual(new Set(['azure-tables']));
    expect(failures.slice(0, 3).map(({ error }) => error)).toEqual(
      Array.from({ length: 3 }, () => 'Azurite has ended'),
    );
    expect(failures.at(-1)!.error).toBe('not tried: the 3 runs before had no answer, the last with: Azurite has ended');
    expect(processesOf(mark)).toEqual([]);
  });
});
