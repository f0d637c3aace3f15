// `npm start` that loses an emulator, and then is ended early: it leaves a report of what there is,
// and nothing that runs or listens.
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../infra/cli/exit.ts';
import { npmStart } from './npm-start.ts';

/** One cell a cloud, longer than anybody waits for. */
const ARGS = '--cloud both --workloads ycsb-c --layouts record --repetitions 50 --seconds 1'.split(' ');

describe.skipIf(process.platform !== 'linux')('npm start', { timeout: 180_000 }, () => {
  test('gives up a cloud whose emulator ends and goes on with the other; Ctrl-C leaves only its report', async () => {
    const { job, exit, said, until, running, report } = await npmStart(...ARGS);
    await until(/^Warming up/m);
    const emulator = running().find(({ command }) =>
      /^\S*node \S*emulator-process\.ts (strict-)?azurite/.test(command),
    );
    process.kill(emulator!.pid, 'SIGKILL');
    // Told after the first tenth.
    await until(/^[1-9]\d* of \d+ runs/m);
    job.kill('SIGINT');
    expect(await exit).toEqual([EXIT.interrupted, null]);
    const { endedEarly, cells, failures, leftovers } = await report();
    expect(endedEarly).toBe('ended by SIGINT');
    expect(cells.map(({ provider }) => provider)).toEqual(['datastore']);
    expect(cells[0]!.runs.length).toBeGreaterThan(0);
    expect(cells[0]!.runs.length).toBeLessThan(50);
    expect(new Set([...failures, ...leftovers].map(({ provider }) => provider))).toEqual(new Set(['azure-tables']));
    expect(failures.slice(0, 4).map(({ error }) => error)).toEqual([
      ...Array.from({ length: 3 }, () => 'Azurite has ended'),
      'not tried: the 3 runs before had no answer, the last with: Azurite has ended',
    ]);
    expect(running()).toEqual([]);
    const urls = [...said().matchAll(/functions at (http:\/\/127\.0\.0\.1:\d+)/g)].map(([, url]) => url!);
    expect(urls).toHaveLength(2);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});
