// Chapters show ratios to each column's baseline, failures and gaps. Nothing loads from elsewhere.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { writeFiles } from '../../../../infra/cli/report-files.ts';
import { chaptersHtml } from '../../../../shared/lab/report/chapters/html.ts';
import { sheetsOf } from '../../../../shared/lab/report/chapters/sheets.ts';
import { chaptersText } from '../../../../shared/lab/report/chapters/text.ts';
import {
  type Chapter,
  chaptersSchema,
  type FigureTable,
  isWhole,
  problemsOf,
  ratioOf,
  chaptersReport,
  type Result,
} from '../../../../shared/lab/report/chapters/schema.ts';
import { testFolder } from '../../../support/folder.ts';

const TABLE: FigureTable = {
  id: 'writes',
  title: 'Writes <of> records',
  about: 'Ten at a time.',
  columns: [
    { id: 'printed', era: 'then', measure: 'time', where: 'App Engine, 2008', unit: 's', better: 'lower' },
    { id: 'now', era: 'now', measure: 'time', where: 'Azurite', unit: 'ms', better: 'lower' },
    { id: 'cloud', era: 'now', measure: 'time', where: 'Azure', unit: 'ms', better: 'lower' },
  ],
  rows: [
    {
      id: 'base',
      name: 'one by one',
      against: 'base',
      figures: { printed: { runs: [10, 14] }, now: { runs: [2, 4] }, cloud: { runs: [100] } },
    },
    {
      id: 'group',
      name: 'in groups',
      standIn: 'commits',
      against: 'base',
      figures: { printed: { runs: [3] }, now: { runs: [6] }, cloud: { runs: [50] } },
      marks: ['no effect expected on loopback'],
    },
    {
      id: 'broken',
      name: 'over a broken line',
      against: 'base',
      figures: { printed: { missing: 'not printed' }, now: { failed: 'socket hang up' } },
    },
  ],
};

const CHAPTER: Chapter = {
  tables: [TABLE],
  wordTables: [{ title: 'Same?', about: '', columns: ['null'], rows: [{ name: 'JSON', cells: ['same'] }] }],
  cannotShow: ['Distance.'],
  findings: [{ verdict: 'does not hold', text: 'Groups took 2 times as long.' }],
};

const FACTS = {
  title: 'documents <again>',
  lead: ['Five of them.', 'Only ratios are compared.'],
  ran: {
    startedAt: '2026-11-22T07:00:00.000Z',
    durationMs: 1_000,
    coordinator: { cpu: 'a processor', cores: 2, memoryBytes: 2 ** 34, platform: 'Linux', node: '24.0.0' },
    versions: { stowage: '0.1.0' },
  },
  endedEarly: null,
  notes: ['A ratio is of means.'],
};

const RESULT: Result = {
  id: 'b',
  title: 'Speed & size',
  question: 'How fast?',
  source: { title: 'A document', year: 2011, platform: 'a cloud' },
  chapter: CHAPTER,
  failure: null,
};
const FAILED: Result = { ...RESULT, chapter: null, failure: 'the emulator did not start' };
const REPORT = chaptersReport({ ...FACTS, results: [RESULT] });

test('a ratio is the mean over that of the baseline in the same column', () => {
  expect(ratioOf(TABLE, 'group', 'printed')).toBe(0.25);
  expect(ratioOf(TABLE, 'group', 'now')).toBe(2);
  expect(ratioOf(TABLE, 'base', 'now')).toBe(1);
  expect(ratioOf(TABLE, 'broken', 'now')).toBeUndefined();
  expect(ratioOf(TABLE, 'group', 'elsewhere')).toBeUndefined();
});

test('the data passes its own schema when it is read again', () => {
  expect(chaptersSchema.parse(JSON.parse(JSON.stringify(REPORT)))).toEqual(REPORT);
});

test('a report is whole only if nothing failed, was interrupted or is without a chapter', () => {
  expect(problemsOf(RESULT)).toEqual(['over a broken line, Azurite: socket hang up']);
  const whole = { ...RESULT, chapter: { ...CHAPTER, tables: [{ ...TABLE, rows: TABLE.rows.slice(0, 2) }] } };
  expect(isWhole(chaptersReport({ ...FACTS, results: [whole] }))).toBe(true);
  // A figure that is missing is said, and is no failure.
  const skipped = { ...TABLE.rows[0]!, id: 'skipped', figures: { now: { missing: 'no such thing there' } } };
  const chapter = { ...CHAPTER, tables: [{ ...TABLE, rows: [TABLE.rows[0]!, skipped] }] };
  expect(isWhole(chaptersReport({ ...FACTS, results: [{ ...RESULT, chapter }] }))).toBe(true);
  expect(isWhole(REPORT)).toBe(false);
  expect(isWhole(chaptersReport({ ...FACTS, endedEarly: 'ended by SIGINT', results: [whole] }))).toBe(false);
  expect(isWhole(chaptersReport({ ...FACTS, results: [FAILED] }))).toBe(false);
});

test('the page shows then and now apart, stand-ins, marks, failures, and escapes what it shows', () => {
  const html = chaptersHtml(REPORT);
  for (const text of ['then: App Engine, 2008', 'now: Azurite', 'now: Azure', 'now: commits', '0.25 x', '2.0 x'])
    expect(html).toContain(text);
  for (const text of ['no effect expected on loopback', 'socket hang up', 'does not hold', 'Something failed'])
    expect(html).toContain(text);
  for (const text of ['Writes &lt;of&gt; records', 'Speed &amp; size']) expect(html).toContain(text);
  expect(html).not.toMatch(/<script|(?:src|href)="http|url\(|@import/);
});

test('a chapter that failed as a whole has its place, with the reason', () => {
  const report = chaptersReport({ ...FACTS, endedEarly: 'ended by SIGINT', results: [FAILED] });
  const html = chaptersHtml(report);
  expect(html).toContain('the emulator did not start');
  expect(html).toContain('<b>Ended early.</b> ended by SIGINT');
  expect(chaptersText(report)).toContain('B  FAILED  the emulator did not start');
});

test('the terminal has a line for each finding and each problem', () => {
  const lines = chaptersText(REPORT).split('\n');
  expect(lines).toContain('B  does not hold: Groups took 2 times as long.');
  expect(lines).toContain('B  FAILED  over a broken line, Azurite: socket hang up');
  expect(lines.find((line) => line.includes('in groups'))).toMatch(/3 s = 0\.25 x +6 ms = 2\.0 x +50 ms = 0\.50 x$/);
});

test('a measure is a sheet of its own, with the rows that have something to show in it', () => {
  const columns = [...TABLE.columns, { ...TABLE.columns[0]!, id: 'cpu', measure: 'processor time' }];
  const [time, processor] = sheetsOf({ ...TABLE, columns });
  expect(time).toMatchObject({ caption: 'Writes <of> records: time', rows: { length: 3 } });
  expect(time!.rows[0]!.cells[0]).toEqual({ ratio: 1, text: '12 s', spread: '10 to 14 s' });
  const [mixed] = sheetsOf({ ...TABLE, rows: [{ ...TABLE.rows[0]!, figures: { now: { runs: [0.9, 1.1] } } }] });
  expect(mixed!.rows[0]!.cells[1]).toMatchObject({ spread: '900 µs to 1.1 ms' });
  expect(time!.rows[2]!.cells.map(({ text }) => text)).toEqual(['not printed', 'failed', '']);
  expect(processor).toMatchObject({ caption: 'Writes <of> records: processor time', rows: [] });
});

test('both files are written', async () => {
  const [json, html] = await writeFiles(REPORT, path.join(await testFolder(), 'experiments'), chaptersHtml);
  expect(JSON.parse(await readFile(json!, 'utf8'))).toEqual(REPORT);
  expect(await readFile(html!, 'utf8')).toMatch(/^<!doctype html>/);
});
