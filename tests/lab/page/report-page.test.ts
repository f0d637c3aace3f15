// A report as its page in Chromium. Skipped where there is no Chromium.
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pageText } from '../../../infra/package/bundle-page.ts';
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { comparisonsOf } from '../../../shared/lab/report/comparisons.ts';
import { type Report, reportSchema } from '../../../shared/lab/report/report-schema.ts';
import { against } from '../../../shared/lab/report/against.ts';
import { withReport } from '../../../shared/lab/page/link.ts';
import { CHROMIUM } from '../../support/chromium.ts';
import { CLOUD_PLACES, COORDINATES, sampleCell, sampleReport, unusualCells } from '../report/sample-report.ts';

const DESK = { width: 1_280, height: 800 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  /** Errors, and requests: the page needs nothing but itself. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] });
  });
  afterAll(async () => await browser.close());
  beforeEach(async () => {
    complaints = [];
    page = await browser.newPage({ viewport: DESK });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('request', (request) => complaints.push(request.url()));
  });
  afterEach(async () => {
    await page.close();
    if (complaints.length > 0) throw new Error(complaints.join('\n'));
  });

  const show = async (report: Report): Promise<void> =>
    await page.setContent(withReport(await pageText(), reportSchema.parse(report)));
  const evaluated = async (expression: string): Promise<unknown> => await page.evaluate(expression);
  const count = async (selector: string): Promise<number> => await page.locator(selector).count();
  const row = (title: string) => page.getByRole('region', { name: title, exact: true });
  const overflow = (): Promise<unknown> => evaluated('document.documentElement.scrollWidth - innerWidth');
  const unfold = async (): Promise<unknown> =>
    await evaluated("document.querySelectorAll('details').forEach((one) => { one.open = true; })");

  test('a workload has its sentence, and curves of each layout on both clouds', async () => {
    const report = sampleReport();
    await show(report);
    expect(await count('.row')).toBe(5);
    const load = row('Loading 100 records together');
    const [, sentence] = report.sentences.find(({ workload }) => workload === 'load')!.text.split(': ');
    expect(await load.textContent()).toContain(sentence);
    const rate = load.getByRole('img', { name: 'records a second over callers' });
    // Three layouts on each of two clouds, four rungs.
    expect(await rate.locator('[aria-label=line] path').count()).toBe(6);
    expect(await rate.locator('[aria-label=dot] path').count()).toBe(24);
    expect(await load.getByRole('img', { name: 'dollars per million records over callers' }).count()).toBe(1);
    // Single operations have no batches.
    const reads = row('Reading one record').getByRole('img', { name: 'reads a second over callers' });
    expect(await reads.locator('[aria-label=line] path').count()).toBe(4);
  });

  test('the first screen has every curve, and says that no cloud was asked', async () => {
    const roundTrips = PROVIDERS.map((provider) => ({ provider, readMs: 12, commitMs: 34 }));
    await show(sampleReport({ change: { network: { name: 'cloud', roundTrips } } }));
    const last = await page.locator('figure svg').last().boundingBox();
    expect(last!.y + last!.height).toBeLessThan(DESK.height);
    expect(await page.textContent('#where')).toMatch(/12 ms per read and 34 ms per commit.*no cloud was asked/);
  });

  test('points are hollow where the machine was the limit, and nowhere else', async () => {
    const report = sampleReport();
    await show(report);
    const limited = report.cells.filter(({ isMachineLimited }) => isMachineLimited).length;
    // Once by rates, once by dollars.
    expect(await count('figure path[fill="var(--paper)"]')).toBe(2 * limited);
    expect(await count('figure [aria-label=dot] path')).toBe(2 * report.cells.length);
    expect(await page.textContent('#legend')).toContain('hollow');
    await show({ ...report, cells: report.cells.map((cell) => ({ ...cell, isMachineLimited: false })) });
    expect(await count('figure path[fill="var(--paper)"]')).toBe(0);
    expect(await page.textContent('#legend')).not.toContain('hollow');
  });

  test('percentiles take the place of rates, without points that too few replies bear', async () => {
    await show(sampleReport());
    await page.getByLabel('p99').check();
    const load = row('Loading 100 records together').locator('figure').first();
    expect(await load.locator('figcaption').textContent()).toBe('99 of 100 calls within, ms, over callers');
    // The sample has no p99 of one caller.
    expect(await load.locator('[aria-label=dot] path').count()).toBe(18);
    await page.getByLabel('p50').check();
    expect(await load.locator('[aria-label=dot] path').count()).toBe(24);
  });

  test('every figure stands in a table, which its row opens by keyboard', async () => {
    const report = sampleReport();
    await show(report);
    const link = row('Scanning 1 to 100 records').getByRole('link', { name: 'Figures' });
    await link.focus();
    await page.keyboard.press('Enter');
    const table = page.getByRole('table', { name: 'Scan a range (YCSB E)' });
    await expect.poll(() => table.isVisible()).toBe(true);
    const cell = report.cells.find(({ workload, layout }) => workload === 'ycsb-e' && layout === 'container')!;
    const shown = await table.getByRole('row', { name: 'Datastore container 1 caller' }).textContent();
    expect(shown).toContain(Math.round(cell.recordsPerSecond.median).toLocaleString('en-US'));
    expect(await page.locator('#figures tbody tr').count()).toBe(report.cells.length);
  });

  test('one table has the verdicts, another compares the clouds where both are real', async () => {
    const report = sampleReport();
    await show(report);
    expect(await page.locator('#clouds table').count()).toBe(0);
    expect(await page.locator('#comparisons tbody tr').count()).toBe(report.comparisons.length);
    const places = [...CLOUD_PLACES];
    await show({ ...report, places, comparisons: comparisonsOf(report.cells, true) });
    expect(await page.locator('#clouds').isVisible()).toBe(true);
    // A row for each workload and layout that ran on both.
    expect(await page.locator('#clouds tbody tr').count()).toBe(11);
    expect(await page.textContent('#where')).toContain('the real service');
  });

  test('cells of several sizes, instances, open loops and one rung break no curve', async () => {
    const unusual = unusualCells({ repetitions: 6 });
    await show(sampleReport({ cells: [...sampleReport().cells, ...unusual] }));
    const title = 'Reading or updating one record';
    expect(await count('.row')).toBe(5 + 3 + 1);
    expect(await row(`${title}, in containers of 512 KiB`).count()).toBe(1);
    expect(await row(`${title}, by 4 instances`).count()).toBe(1);
    await page.click('#figures summary');
    expect(await page.textContent('#figures')).toContain('1,600/s offered');
    const open = unusual.filter(({ ratePerSecond }) => ratePerSecond !== null);
    await show(sampleReport({ cells: open }));
    expect(await count('.row')).toBe(0);
    expect(await count('#figures tbody tr')).toBe(open.length);
    // One rung has points alone, of which the chart library does not complain.
    const cells = sampleReport().cells.filter(({ callers }) => callers === 1);
    await show(sampleReport({ cells }));
    expect(await count('figure [aria-label=dot] path')).toBe(2 * cells.length);
  });

  test('the page names failed runs, cells left out, leftover datasets, an early end, and that it has no figure', async () => {
    const change: Partial<Report> = {
      endedEarly: 'ended by Ctrl-C',
      failures: [{ ...COORDINATES, repetition: 2, error: 'HTTP 503: <b>no</b></script>' }],
      leftOut: [{ provider: 'datastore', layout: 'batch', workload: 'ycsb-e', why: 'no batched scans' }],
      leftovers: [{ provider: 'datastore', dataset: 'r1', error: 'HTTP 503' }],
    };
    await show(sampleReport({ cells: [sampleCell({}, { repetitions: 4 })], change }));
    const troubles = await page.textContent('#troubles');
    expect(troubles).toContain('Not whole: ended by Ctrl-C.');
    expect(troubles).toContain('Datastore record, load, 500 B, 1 caller, run 2: HTTP 503: <b>no</b></script>');
    expect(troubles).toContain('Not removed, it is billed: Google Cloud Datastore, r1: HTTP 503');
    expect(await page.textContent('#warnings')).toContain('no batched scans');
    await show(sampleReport({ cells: [], change: { places: [] } }));
    expect(await page.textContent('#where')).toBe('No function answered, so there is no figure.');
    expect(await page.locator('#figures').isVisible()).toBe(false);
  });

  test('changes since an earlier report are listed with their p', async () => {
    const [before, now] = [1, 2].map((containerFactor) => sampleReport({ containerFactor }));
    await show({ ...now!, against: against(now!, before!) });
    const changed = page.locator('#against').getByText('Datastore container, load, 500 B, 1 caller');
    expect(await changed.first().locator('..').textContent()).toMatch(/throughput.*9,045.*18,090.*2\.0 x0\.002/);
  });

  test('the page follows the reader’s screen: wide or narrow, a phone, dark', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await show(sampleReport());
    const colour = (of: string): Promise<unknown> => evaluated(`getComputedStyle(document.body)['${of}']`);
    const tick = 'getComputedStyle(document.querySelector(\'figure [aria-label*="tick label"] text\')).fill';
    expect(await colour('backgroundColor')).toBe('rgb(20, 24, 28)');
    expect(await evaluated(tick)).toBe(await colour('color'));
    const width = () => page.locator('figure svg').first().getAttribute('width');
    const wide = Number(await width());
    await page.setViewportSize({ width: 900, height: 800 });
    await expect.poll(async () => Number(await width())).toBeLessThan(wide);
    expect(await overflow()).toBe(0);
    // Only tables scroll sideways, and panels stand below their sentence.
    await page.setViewportSize(PHONE);
    await expect.poll(overflow).toBe(0);
    const load = row('Loading 100 records together');
    const [words, figure] = [await load.locator('p').boundingBox(), await load.locator('figure').first().boundingBox()];
    expect(figure!.y).toBeGreaterThanOrEqual(words!.y + words!.height);
    await unfold();
    expect(await overflow()).toBe(0);
  });
});
