// A comparison from the command line, on functions that run nothing.
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runComparison } from '../../../infra/cli/comparison.ts';
import { EXIT } from '../../../infra/cli/exit.ts';
import { readReport } from '../../../infra/cli/report-files.ts';
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { planSchema } from '../../../shared/lab/plan/plan.ts';
import { conditionsOf } from '../../../shared/lab/report/fail-conditions.ts';
import { fakeFunctions, fakeResult } from '../../lab/fakes.ts';
import { testFolder } from '../../support/folder.ts';

const PLAN = planSchema.parse({ name: 'small', workloads: ['load'], callers: [1, 4], repetitions: 4 });
const RUNS = 2 * 3 * 2 * 4;

let outDir: string;
beforeEach(async () => {
  outDir = await testFolder();
});

async function compare(change: Partial<Parameters<typeof runComparison>[0]> = {}) {
  const log: string[] = [];
  const code = await runComparison({
    plan: PLAN,
    baseline: { report: undefined, conditions: [] },
    endpoints: PROVIDERS.map((provider) => ({ provider, urls: [`https://${provider}`], headers: {} })),
    circumstances: { versions: {}, commit: null, command: 'stowage compare' },
    why: { ran: 'asked for', leftOut: 'not asked for' },
    outDir,
    signal: new AbortController().signal,
    log: (line) => log.push(line),
    fetch: fakeFunctions(),
    ...change,
  });
  return { code, log: log.join('\n'), report: await readReport(path.join(outDir, 'compare.json')) };
}

/** `slower` times as slow as before in the layout container. */
async function twice(slower: number, conditions: string) {
  const { report } = await compare();
  const fetchIt = fakeFunctions((request, provider) => {
    const result = fakeResult(request, provider);
    return Response.json(request.layout === 'container' ? { ...result, records: result.records / slower } : result);
  });
  return await compare({ fetch: fetchIt, baseline: { report, conditions: conditionsOf(conditions) } });
}

test('a comparison writes a report of every run, and exits with 0', async () => {
  const { code, report, log } = await compare();
  expect(code).toBe(EXIT.ok);
  expect(report.cells).toHaveLength(12);
  expect(report.cells.flatMap(({ runs }) => runs)).toHaveLength(RUNS);
  const cell = report.cells.find(
    ({ provider, layout, callers }) => `${provider} ${layout} ${callers}` === 'datastore container 4',
  );
  // Four callers, 2 ms a call of 100.
  expect(cell?.recordsPerSecond.median).toBeCloseTo(200_000, 0);
  expect(cell?.latency.p50Ms).toBeCloseTo(2, 1);
  expect(report).toMatchObject({ endedEarly: null, failures: [], command: 'stowage compare' });
  expect(log).toContain('compare.html');
  expect(log).toMatch(/The first of 4 blocks, one run of each cell:\n\nLoad, 1,000 bytes: .*\n.*1 caller +4 callers/);
});

test('a comparison names a target that fails, with its error, and goes on with the others', async () => {
  const problem = { title: 'Unavailable', detail: 'no <store> \u{9b}2J' };
  const { code, report, log } = await compare({
    fetch: fakeFunctions((request, provider) =>
      provider === 'azure-tables' && request.layout === 'batch'
        ? Response.json(problem, { status: 503 })
        : Response.json(fakeResult(request, provider)),
    ),
  });
  expect(code).toBe(EXIT.failed);
  expect(report.failures.length).toBeGreaterThan(0);
  for (const failure of report.failures)
    expect(failure).toMatchObject({ provider: 'azure-tables', error: expect.stringContaining('HTTP 503: no <store>') });
  expect(report.cells.filter(({ provider }) => provider === 'datastore')).toHaveLength(6);
  expect(log).toContain('FAILED Azure batch, load');
  expect([log.includes('\u{9b}'), log.includes(String.raw`no <store> \u009b2J`)]).toEqual([false, true]);
});

describe('against an earlier report', () => {
  test('a comparison exits with 3 where a condition is met, and names the cell', async () => {
    const { code, report, log } = await twice(2, 'load.throughput<0.9x');
    expect(code).toBe(EXIT.conditionMet);
    const told = report.against!.changes.filter(({ verdict }) => verdict !== 'undecided');
    expect(told.map(({ layout, figure }) => `${layout} ${figure}`)).toContain('container throughput');
    expect(told.every(({ layout }) => layout === 'container')).toBe(true);
    expect(log).toMatch(
      /--fail-if load\.throughput<0\.9x: Datastore container, load, 1,000 B, 1 caller is 0\.50 x \(p 0\.029\)/,
    );
  });
});
