// The report: ratios against each column's own baseline, failures and missing figures shown, nothing loaded from elsewhere.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeFiles } from '../../../../infra/cli/report-files.ts';
import { experimentsHtml } from '../../../../infra/lab/experiments/report/html.ts';
import { figureText, ratioText, valueText } from '../../../../infra/lab/experiments/report/numbers.ts';
import { experimentsSchema, isWhole, reportOf } from '../../../../infra/lab/experiments/report/schema.ts';
import { experimentsText } from '../../../../infra/lab/experiments/report/text.ts';
import {
  type Chapter,
  type ChapterResult,
  type FigureTable,
  ratioOf,
} from '../../../../infra/lab/experiments/results.ts';

const TABLE: FigureTable = {
  id: 'writes',
  title: 'Writes <of> records',
  about: 'Ten at a time.',
  columns: [
    { id: 'printed', era: 'then', measure: 'time', where: 'App Engine, 2008', unit: 's', better: 'lower' },
    { id: 'now', era: 'now', measure: 'time', where: 'Azurite', unit: 'ms', better: 'lower' },
    { id: 'model', era: 'model', measure: 'time', where: 'Azure', unit: 'ms', better: 'lower' },
  ],
  rows: [
    {
      id: 'base',
      name: 'one by one',
      against: 'base',
      figures: { printed: { runs: [10, 14] }, now: { runs: [2, 4] }, model: { runs: [100] } },
    },
    {
      id: 'group',
      name: 'in groups',
      standIn: 'commits',
      against: 'base',
      figures: { printed: { runs: [3] }, now: { runs: [6] }, model: { runs: [50] } },
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
  id: 'b',
  title: 'Speed & size',
  question: 'How fast?',
  source: { title: 'A document', year: 2011, platform: 'a cloud' },
  tables: [TABLE],
  wordTables: [
    { id: 'w', title: 'Same?', about: 'Compared.', columns: ['null'], rows: [{ name: 'JSON', cells: ['same'] }] },
  ],
  cannotShow: ['Distance.'],
  findings: [{ verdict: 'does not hold', text: 'Groups took 2 times as long.' }],
};

const FACTS = {
  startedAt: '2026-11-22T07:00:00.000Z',
  durationMs: 1_000,
  machine: { cpu: 'a processor', cores: 2, memoryBytes: 2 ** 34, platform: 'Linux', node: '24.0.0' },
  versions: { stowage: '0.1.0' },
  endedBy: null,
};

function result(overrides: Partial<ChapterResult> = {}): ChapterResult {
  const base = { id: 'b', title: CHAPTER.title, question: CHAPTER.question, durationMs: 5 } as const;
  return { ...base, chapter: CHAPTER, failure: null, endedBy: null, ...overrides };
}

test('a ratio is the mean over that of the baseline in the same column', () => {
  expect(ratioOf(TABLE, 'group', 'printed')).toBe(0.25);
  expect(ratioOf(TABLE, 'group', 'now')).toBe(2);
  expect(ratioOf(TABLE, 'base', 'now')).toBe(1);
  expect(ratioOf(TABLE, 'broken', 'now')).toBeUndefined();
  expect(ratioOf(TABLE, 'group', 'elsewhere')).toBeUndefined();
});

test('the data holds the ratios and the problems, and passes its own schema when it is read again', () => {
  const report = reportOf(FACTS, [result()]);
  expect(report.results[0]!.chapter!.tables[0]!.rows.map(({ ratios }) => ratios)).toEqual([
    { printed: 1, now: 1, model: 1 },
    { printed: 0.25, now: 2, model: 0.5 },
    {},
  ]);
  expect(report.results[0]!.problems).toEqual(['over a broken line, Azurite: socket hang up']);
  expect(experimentsSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
});

test('a report is whole only if nothing failed, was interrupted or is without a chapter', () => {
  const whole = { ...CHAPTER, tables: [{ ...TABLE, rows: TABLE.rows.slice(0, 2) }] };
  expect(isWhole(reportOf(FACTS, [result({ chapter: whole })]))).toBe(true);
  expect(isWhole(reportOf(FACTS, [result()]))).toBe(false);
  expect(isWhole(reportOf({ ...FACTS, endedBy: 'ended by SIGINT' }, [result({ chapter: whole })]))).toBe(false);
  expect(isWhole(reportOf(FACTS, [result({ chapter: null, failure: 'no emulator' })]))).toBe(false);
});

test('the page shows then, now and model apart, stand-ins, marks, failures, and escapes what it shows', () => {
  const html = experimentsHtml(reportOf(FACTS, [result()]));
  for (const text of [
    'then: App Engine, 2008',
    'now: Azurite',
    'model: Azure',
    'now: commits',
    'no effect expected on loopback',
    'socket hang up',
    'Writes &lt;of&gt; records',
    'Speed &amp; size',
    '0.25 &times;',
    '2.00 &times;',
    'does not hold',
    'Something failed',
  ])
    expect(html).toContain(text);
  expect(html).not.toMatch(/<script|(?:src|href)="http|url\(|@import/);
  // Two shapes of one chart.
  expect(html.match(/<svg /g)).toHaveLength(2);
});

test('a chapter that failed as a whole has its place, with the reason', () => {
  const report = reportOf({ ...FACTS, endedBy: 'ended by SIGINT' }, [
    result({ chapter: null, failure: 'the emulator did not start', endedBy: 'ended by SIGINT' }),
  ]);
  const html = experimentsHtml(report);
  expect(html).toContain('the emulator did not start');
  expect(html).toContain('Ended early: ended by SIGINT');
  expect(experimentsText(report)).toContain('B  FAILED  the emulator did not start');
});

test('the terminal has a line for each finding and each problem', () => {
  const lines = experimentsText(reportOf(FACTS, [result()])).split('\n');
  expect(lines).toContain('B  does not hold: Groups took 2 times as long.');
  expect(lines).toContain('B  FAILED  over a broken line, Azurite: socket hang up');
  expect(lines.find((line) => line.includes('in groups'))).toMatch(/3 s = 0\.25x +6 ms = 2\.00x +50 ms = 0\.50x$/);
});

test('both files are written', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-experiments-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const report = reportOf(FACTS, [result()]);
  const [json, html] = await writeFiles(report, path.join(folder, 'experiments'), experimentsHtml);
  expect(JSON.parse(await readFile(json!, 'utf8'))).toEqual(report);
  expect(await readFile(html!, 'utf8')).toMatch(/^<!doctype html>/);
});

test('figures are short: three digits, a unit that suits, the unit once in a range', () => {
  expect(valueText(0.0123, 'ms')).toBe('12.3 µs');
  expect(valueText(17_893.71, 's')).toBe('17,894 s');
  expect(valueText(428_955, 'bytes')).toBe('428,955 bytes');
  expect(valueText(0.0361, 'dollars')).toBe('$0.0361');
  expect(figureText({ runs: [0.9, 1.1] }, 'ms')).toEqual({ main: '1 ms', spread: '900 µs to 1.1 ms' });
  expect(figureText({ runs: [2, 4] }, 'ms')).toEqual({ main: '3 ms', spread: '2 to 4 ms' });
  expect(figureText({ failed: 'x' }, 'ms').main).toBe('failed');
  expect(figureText(undefined, 'ms').main).toBe('-');
  expect([0.00234, 0.5, 1.5, 12.34, 237.4, 1_234.5].map(ratioText)).toEqual([
    '0.0023',
    '0.50',
    '1.50',
    '12.3',
    '237',
    '1,235',
  ]);
});
