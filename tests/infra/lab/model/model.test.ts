// `npm run model`: its command line, its workers.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readPlan, settingsOf } from '../../../../infra/lab/model/options.ts';
import { runCells } from '../../../../infra/lab/model/workers.ts';
import { plannedRows } from '../../../lab/planned-rows.ts';
import { testFolder } from '../../../support/folder.ts';
import { runCommand } from '../../cli/run-command.ts';

test.each([
  [['--plan', 'missing.json'], '--plan is one of default, goals, guard'],
  [['--set', 'commit.bseMs=3'], 'there are network.oneWayMs.median'],
  [['--set', 'commit.baseMs=fast'], 'a number from 0 up, or low, middle or high'],
  [['--set', 'commit.baseMs'], 'NAME=VALUE'],
  [['--only', 'nowhere'], 'no row of the plan'],
  [['--workers', '0'], '--workers takes a whole number'],
])('%j is refused before anything runs', async (args, message) => {
  const { code, stdout, stderr } = await runCommand(['infra/run.mjs', 'model', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stdout).toBe('');
});

test('a plan file that is none is refused, by its name and what is wrong', async () => {
  const file = path.join(await testFolder(), 'plan.json');
  await writeFile(file, '{"name":"x","groups":[{"title":"t","rows":[{"workload":"write"}]}]}');
  await expect(readPlan(file, 1)).rejects.toThrow(/plan\.json is no plan[^]*workload/);
});

test('--set is for both providers, or for the one that is named', () => {
  expect(settingsOf('commit.baseMs=5,azure-tables:get.baseMs=high')).toEqual({
    datastore: { 'commit.baseMs': 5 },
    'azure-tables': { 'commit.baseMs': 5, 'get.baseMs': 'high' },
  });
});

test('the results are the same bytes, however many workers there are', async () => {
  const rows = [
    { workload: 'put', records: 300, instances: 2, callers: 2 } as const,
    { workload: 'read', records: 300, callers: 3 } as const,
  ];
  const window = { warmupOperationsMax: 20, operationsMax: 40 };
  const plan = { name: 'x', window, groups: [{ title: 't', rows }] };
  const cells = plannedRows(plan, 3).flatMap((row) => row.cells);
  const { signal } = new AbortController();
  const run = (workers: number) => runCells(cells, { workers, signal, onResult: () => undefined });
  const [one, three] = [await run(1), await run(3)];
  expect(one).toHaveLength(cells.length);
  expect(JSON.stringify(three)).toBe(JSON.stringify(one));
}, 120_000);

test('a run that is ended ends its workers and says why', async () => {
  const cells = plannedRows(await readPlan('goals', 1)).flatMap((row) => row.cells);
  const ending = new AbortController();
  const running = runCells(cells, { workers: 2, signal: ending.signal, onResult: () => undefined });
  ending.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
});
