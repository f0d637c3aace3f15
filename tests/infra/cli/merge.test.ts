// Parts of a comparison as files: one command leaves them, another makes a report of them.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../../infra/cli/exit.ts';
import { mergeFiles } from '../../../infra/cli/merge.ts';
import { partFrom, runPart, startFrom } from '../../../infra/cli/part.ts';
import { readReport } from '../../../infra/cli/report-files.ts';
import { planSchema } from '../../../shared/compare/plan/plan.ts';
import { fakeFunctions } from '../../compare/fake-function.ts';

const PLAN = planSchema.parse({
  workloads: ['ycsb-c'],
  layouts: ['container'],
  callers: [4],
  repetitions: 1,
  durationMs: 10,
  warmup: { leastMs: 0, mostMs: 0 },
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'merge-'));
  onTestFinished(() => rm(folder, { recursive: true }));
});

/** The other parts than the first, which would wait until all have ended; so their comparison always lacks one. */
async function leaveParts(count: number): Promise<string[]> {
  const startMs = Date.now() + 50;
  const codes = await Promise.all(
    Array.from({ length: count - 1 }, (_, at) =>
      runPart({
        plan: PLAN,
        part: { index: at + 1, count },
        startMs,
        endpoint: { provider: 'datastore', urls: ['https://datastore'], headers: {} },
        signal: new AbortController().signal,
        fetch: fakeFunctions().fetch,
        outDir: folder,
        log: () => {},
      }),
    ),
  );
  expect(codes).toEqual(codes.map(() => EXIT.ok));
  return (await readdir(folder)).map((file) => path.join(folder, file));
}

async function merged(files: readonly string[]) {
  const log: string[] = [];
  const code = await mergeFiles({
    files,
    baseline: { report: undefined, conditions: [] },
    outDir: folder,
    command: 'stowage merge part-*.json',
    log: (line) => log.push(line),
  });
  return { code, log: log.join('\n'), report: await readReport(path.join(folder, 'compare.json')) };
}

test('a part that is missing, and a file that holds none, are told in the report, and by the exit code', async () => {
  const files = await leaveParts(3);
  expect(files.map((file) => path.basename(file)).toSorted()).toEqual([
    expect.stringMatching(/^part-.*-datastore-2-of-3\.json$/),
    expect.stringMatching(/^part-.*-datastore-3-of-3\.json$/),
  ]);
  const garbage = path.join(folder, 'garbage.json');
  await writeFile(garbage, '{"kind":');
  const { code, report, log } = await merged([...files, garbage, path.join(folder, 'nobody.json')]);
  expect(code).toBe(EXIT.failed);
  expect(report.lostParts).toEqual([
    expect.stringMatching(/^garbage\.json: no JSON: /),
    expect.stringMatching(/^nobody\.json: ENOENT/),
    expect.stringMatching(/^part 1 of 3 on datastore is missing/),
  ]);
  expect(report).toMatchObject({ cells: [], failures: [], plan: { instances: [3] } });
  expect(log).toContain('MISSING PARTS');
});

test('files of which none is a part are refused', async () => {
  await expect(merged([path.join(folder, 'nobody.json')])).rejects.toThrow('none of the files is a part');
});

describe('the options of a part', () => {
  test.each([
    ['1/1', { index: 0, count: 1 }],
    ['64/64', { index: 63, count: 64 }],
  ])('%s', (text, part) => {
    expect(partFrom(text)).toEqual(part);
  });

  test.each(['0/4', '5/4', '1/65', '2', '2/4/8', 'a/b', ''])('%j is no part', (text) => {
    expect(() => partFrom(text)).toThrow(/--part takes which of how many, at most 64, such as 2\/4/);
  });

  test('the start is a time to come', () => {
    const nowMs = Date.UTC(2026, 10, 22, 12);
    expect(startFrom('2026-11-22T12:05:00Z', nowMs)).toBe(nowMs + 300_000);
    expect(() => startFrom(undefined, nowMs)).toThrow(/--start is missing; .* such as 2026-11-22T12:03:00Z/);
    expect(() => startFrom('noon', nowMs)).toThrow('--start is no time: noon');
    expect(() => startFrom('2026-11-22T11:59:00Z', nowMs)).toThrow('--start is over');
  });
});
