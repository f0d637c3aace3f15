// Files that commands are given, and those of a report: they stay in a folder of its own, and those
// of the newest are at a fixed place too.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { commandLineOf } from '../../../infra/cli/command-options.ts';
import { compareDeployed } from '../../../infra/cli/compare-deployed.ts';
import { sourceFacts } from '../../../infra/cli/comparison.ts';
import { PLAN_OPTIONS, planFrom } from '../../../infra/cli/plan-options.ts';
import { readReport, writeReport } from '../../../infra/cli/report-files.ts';
import { readText } from '../../../infra/cli/terminal-text.ts';
import { commitOf } from '../../../infra/package/build-facts.ts';
import { sampleCell, sampleReport } from '../../lab/report/sample-report.ts';
import { testFolder } from '../../support/folder.ts';
import { ROOT } from './run-command.ts';

const FILES = ['compare.csv', 'compare.html', 'compare.json', 'compare.schema.json'];
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

const { values } = commandLineOf({ name: 'test', about: '', options: PLAN_OPTIONS, examples: [] }, []);

const READERS: [what: string, read: (file: string) => Promise<unknown>][] = [
  ['a plan', (file) => planFrom(file, values)],
  ['an earlier report', readReport],
  [
    'the file of endpoints',
    (endpointsFile) => compareDeployed({ endpointsFile } as Parameters<typeof compareDeployed>[0]),
  ],
];

test.each(READERS)('%s that is not UTF-8 is refused by its name', async (_, read) => {
  const file = path.join(folder, 'given.json');
  await writeFile(file, '{"name":"caf\u{e9}"}', 'latin1');
  await expect(read(file)).rejects.toThrow(`${file} is not UTF-8: save it as UTF-8`);
});

test('a byte order mark at the beginning of a file is skipped', async () => {
  const file = path.join(folder, 'given.json');
  await writeFile(file, '\u{feff}{"path":"/v1/\u{feff}"}');
  expect(await readText(file)).toBe('{"path":"/v1/\u{feff}"}');
});

test('a command from a checkout says versions and commit', async () => {
  const { versions, commit } = await sourceFacts(new URL('infra/cli/stowage.ts', `file://${ROOT}`).href);
  expect(versions).toMatchObject({
    '@stowage/store': expect.any(String),
    '@google-cloud/datastore': expect.any(String),
  });
  expect(commit).toBe(await commitOf(ROOT));
  expect(commit ?? '0'.repeat(40)).toMatch(/^[\da-f]{40}\+?$/);
});

test('a command from a package says nothing of sources, whatever repository it is installed in', async () => {
  expect(await sourceFacts('file:///project/node_modules/stowage/dist/cli.js')).toEqual({ versions: {}, commit: null });
});
