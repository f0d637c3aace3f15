// The report's page, made from invented figures.
import { describe, expect, test } from 'vitest';
import type { Place } from '../../../shared/lab/load/place.ts';
import { against } from '../../../shared/lab/report/against.ts';
import { reportHtml } from '../../../shared/lab/report/html.ts';
import { reportSchema } from '../../../shared/lab/report/schema.ts';
import { CLOUD_PLACES, COORDINATES, sampleCell, sampleReport } from './sample-report.ts';

const report = sampleReport();
const html = reportHtml(report);
const FEW = { repetitions: 4 };

/** The page's text as a reader sees it, without tags. */
const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

/** The summary's ratios of container to layout, a row each: `bold`, or the reason why not. */
const ratiosTo = (layout: 'record' | 'batch', page: string): string[] =>
  [...page.matchAll(new RegExp(`<td class="n" data-title="container to ${layout}">([^]*?)</td>`, 'g'))].map(
    ([, cell = '']) => (cell.includes('<b>') ? 'bold' : [...cell.matchAll(/<small>([^<]*)/g)].at(-1)![1]!),
  );
const inAllRows = (verdict: string): string[] => Array.from({ length: 6 }, () => verdict);

describe('the page', () => {
  test('is of a report that keeps its schema', () => {
    expect(reportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  test('loads nothing and runs nothing', () => {
    expect(html).not.toMatch(/<script|<link|<img|@import|url\((?!#)| on\w+=/i);
  });

  test('draws one picture, for a page and for a phone, and says in words what it shows', () => {
    const figures = html.match(/<figure>[^]*?<\/figure>/g)!;
    expect(figures).toHaveLength(1);
    expect(figures[0]).toMatch(/<div class="wide" aria-hidden="true"><svg width="720"/);
    expect(figures[0]).toMatch(/<div class="narrow" aria-hidden="true"><svg width="340"/);
    expect(figures[0]).toMatch(/role="img" aria-label="Datastore load, container to record: /);
    // Words and numbers are in ink; a symbol has its layout's colour.
    const texts = figures[0].match(/<text [^>]*>[^<]+/g)!;
    const words = texts.filter((text) => /\w$|\?$/.test(text));
    expect(words.filter((text) => !text.includes('fill="var(--ink)"'))).toEqual([]);
    expect(words.length).toBeLessThan(texts.length);
    expect(html).toContain('prefers-color-scheme: dark');
  });

  test('says of a percentile that is not there how many operations it lacks', () => {
    const cell = sampleCell({}, FEW);
    for (const [at, run] of cell.runs.entries()) run.operations = 400 + at;
    expect(textOf(reportHtml(sampleReport({ cells: [cell] })))).toContain('400 of 1,000 400 of 10,000');
  });

  test('gives every table a caption, headers of columns and rows, and a region that the keyboard can scroll', () => {
    const tables = html.match(/<div class="scroll"[^]*?<\/table>/g)!;
    expect(tables.length).toBeGreaterThan(5);
    for (const table of tables) {
      expect(table).toMatch(/^<div class="scroll" role="region" aria-label="[^"]+" tabindex="0">/);
      expect(table).toMatch(/<caption>[^<]+<\/caption>/);
      expect(table.match(/<tr>/g)!.length - 1).toBe(table.match(/<th scope="row"/g)!.length);
    }
    expect(html.match(/<table/g)).toHaveLength(tables.length);
  });

  test('gives each figure its interval', () => {
    expect(textOf(html)).toMatch(/Datastore load, 500 B 2,412 2,328 to 2,496 32 callers/);
    expect(textOf(html)).toContain('with 96.9 % confidence');
  });

  test('says the commit, that files differed from it, or that it is unknown', () => {
    const [place, ...others] = report.places;
    const places = [{ ...place!, commit: `${'b'.repeat(40)}+` }, ...others];
    const shown = textOf(reportHtml(sampleReport({ change: { places, commit: null } })));
    expect(shown).toContain(`commit ${'b'.repeat(12)}+,`);
    expect(shown).toContain('commit unknown');
    expect(textOf(html)).toMatch(/commit 0123456789ab[^c]/);
  });

  test('escapes whatever comes from outside', () => {
    const shown = reportHtml(
      sampleReport({
        cells: [],
        change: {
          failures: [{ ...COORDINATES, repetition: 1, error: 'HTTP 503: <b>no</b>' }],
          leftovers: [{ provider: 'datastore', dataset: 'r1', error: '<gone>' }],
          endedEarly: 'ended by <Ctrl-C>',
        },
      }),
    );
    for (const text of ['A &lt;fast&gt; CPU', '&lt;b&gt;no', '&lt;gone&gt;', 'by &lt;Ctrl-C&gt;'])
      expect(shown).toContain(text);
  });
});

const shownWith = (...places: Place[]): string => textOf(reportHtml(sampleReport({ change: { places } })));

describe('where it ran', () => {
  const [one, other] = report.places as [Place, Place];

  test('follows from what the cells told: emulators are called so', () => {
    expect(textOf(html)).toContain('Google Cloud Datastore and Azure Table Storage: emulated, not the cloud.');
  });

  test('is no word about emulators where real services answered', () => {
    const real = shownWith(...CLOUD_PLACES);
    expect(real).not.toMatch(/emulat/i);
    expect(real).toContain('the real service in europe-west4 and westeurope');
  });

  test('says of a mixture which is which, and that the two do not compare', () => {
    const mixed = shownWith(CLOUD_PLACES[0]!, other);
    expect(mixed).toContain('Azure Table Storage: emulated');
    expect(mixed).toContain('do not compare the two');
  });

  test('warns of functions that were not alike', () => {
    const unlike = shownWith(one, { ...other, runtime: 'Node.js 22.1.0', commit: null });
    for (const words of ['different runtimes: Node.js 24.21.0 and Node.js 22.1.0', 'built from different commits'])
      expect(unlike).toContain(words);
    expect(textOf(html)).not.toContain('different');
  });
});

describe('what cannot be told apart', () => {
  const coldest = report.cells.map((cell) => structuredClone(cell));
  for (const cell of coldest.filter(({ layout }) => layout === 'container')) cell.runs[3]!.isSound = false;
  const ofOtherSizes = report.cells.map((cell) => (cell.layout === 'batch' ? { ...cell, recordsPerCall: 7 } : cell));

  test.each([
    ['is bold where intervals lie apart', {}, 'bold', 'bold'],
    // 4,000 against 9,000 x 0.45 = 4,050: the intervals overlap.
    ['is said to be so, and not set in bold', { containerFactor: 0.45 }, 'bold', 'cannot be told apart'],
    ['is everything with five runs', { repetitions: 5 }, 'too few runs to tell', 'too few runs to tell'],
    ['is all with a cold run', { cells: coldest }, 'too few sound runs to tell', 'too few sound runs to tell'],
    ['is called one run', { repetitions: 1 }, 'one run', 'one run'],
    ['has no ratio if calls have other sizes', { cells: ofOtherSizes }, 'bold', 'calls of other sizes'],
  ])('%s', (_what, options, toRecord, toBatch) => {
    const page = reportHtml(sampleReport(options));
    expect(ratiosTo('record', page)).toEqual(inAllRows(toRecord));
    expect(ratiosTo('batch', page)).toEqual(inAllRows(toBatch));
  });

  test('is none of layouts whose calls have other sizes', () => {
    const cells = ofOtherSizes.filter(({ layout }) => layout === 'batch' || layout === 'container');
    expect(textOf(reportHtml(sampleReport({ cells })))).toContain('at each load: calls of other sizes');
  });

  test('of one run has no interval', () => {
    const one = textOf(reportHtml(sampleReport({ repetitions: 1 })));
    expect(one).toMatch(/Datastore load, 500 B 2,328 one run 32 callers/);
    expect(one).not.toMatch(/median of 1|with 0 % confidence/i);
  });
});

describe('a disturbed run', () => {
  test.each([
    [{ processorWait: 0.6 }, 'In 1 of 4 runs the function waited for a processor for up to 60 %'],
    [{ processorStolen: 0.2 }, 'In 1 of 4 runs other machines took up to 20 %'],
    [{ processorBusy: 0.99 }, 'what generates the load was the limit there, not the store'],
    [{ steadiness: 'unsteady' }, 'the load was not steady'],
    [{ steadiness: 'not known' }, 'In 1 of 4 runs steadiness is not known'],
    [{ isCold: true }, 'an instance had only just started'],
    [{ isHeldByRamp: true }, 'the figure is the rule'],
  ])('with %j is told', (change, words) => {
    const cell = sampleCell({}, FEW);
    Object.assign(cell.runs[2]!.parts[0]!, change);
    expect(textOf(reportHtml(sampleReport({ cells: [cell] })))).toContain(words);
    expect(textOf(html)).not.toContain(words);
  });
});

test('a report without figures is a page that says so', () => {
  const shown = textOf(reportHtml(sampleReport({ cells: [], change: { places: [] } })));
  expect(shown).toContain('No function answered, so there is no figure.');
});

test('what changed against an earlier report stands first, with its p', () => {
  const [before, now] = [1, 2].map((containerFactor) => sampleReport({ containerFactor }));
  const compared = against(now!, { ...before!, commit: null });
  const shown = textOf(reportHtml({ ...now!, against: compared }));
  expect(shown).toMatch(/ method Against the report of 2026-11-21 .* commit: unknown before, 0123\w+ now\./);
  expect(shown).toMatch(/Datastore container, load, 500 B, 1 caller throughput 9,045 18,090 2\.0 x 0\.002/);
});
