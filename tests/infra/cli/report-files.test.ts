// A report's files stay in a folder of its own; those of the newest are at a fixed place too.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { readReport, writeReport } from '../../../infra/cli/report-files.ts';
import { sampleCell, sampleReport } from '../../lab/report/sample-report.ts';
import { testFolder } from '../../support/folder.ts';

const FILES = ['compare.html', 'compare.json', 'compare.schema.json'];
const CELLS = [sampleCell({}, { repetitions: 4 })];

let folder: string;
beforeEach(async () => {
  folder = await testFolder();
});

const at = (startedAt: string) => sampleReport({ cells: CELLS, change: { startedAt } });

test('a second comparison keeps the files of the first, and becomes the newest one', async () => {
  const [first, second] = [at('2026-11-21T10:00:00.000Z'), at('2026-11-22T10:00:00.000Z')];
  await writeReport(first, folder);
  const written = await writeReport(second, folder);
  expect(written.map((file) => path.basename(file)).toSorted()).toEqual(FILES);
  expect((await readdir(folder)).toSorted()).toEqual([
    '2026-11-21T10-00-00-000Z',
    '2026-11-22T10-00-00-000Z',
    ...FILES,
  ]);
  expect(await readReport(path.join(folder, 'compare.json'))).toEqual(second);
  expect(await readReport(path.join(folder, '2026-11-21T10-00-00-000Z', 'compare.json'))).toEqual(first);
  expect(await readFile(path.join(folder, 'compare.html'), 'utf8')).toContain('2026-11-22');
});

test('a report that breaks its schema is not written', async () => {
  await expect(writeReport(sampleReport({ cells: CELLS, change: { schemaVersion: 2 as 6 } }), folder)).rejects.toThrow(
    'schemaVersion',
  );
  expect(await readdir(folder)).toEqual([]);
});

test('the JSON Schema beside a report accepts it, and nothing else', async () => {
  await writeReport(at('2026-11-21T10:00:00.000Z'), folder);
  const [json, schema] = await Promise.all(
    ['compare.json', 'compare.schema.json'].map(
      async (name) => JSON.parse(await readFile(path.join(folder, name), 'utf8')) as Record<string, unknown>,
    ),
  );
  const checked = z.fromJSONSchema(schema!);
  expect(checked.safeParse(json).success).toBe(true);
  expect(checked.safeParse({ ...json, endedEarly: 3 }).success).toBe(false);
  expect(checked.safeParse({ ...json, more: 3 }).success).toBe(false);
});
