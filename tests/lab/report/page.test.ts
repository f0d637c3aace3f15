// The default plan's report in Chromium fits a screen and a phone. Skipped without Chromium.
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportHtml } from '../../../shared/lab/report/html.ts';
import { CHROMIUM } from '../../support/chromium.ts';
import { CLOUD_PLACES, sampleReport, unusualCells } from './sample-report.ts';

const DESK = { width: 1_280, height: 800 };
const PHONE = { width: 390, height: 844 };
const PHONE_HEIGHT_MAX_PX = 6_000;

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] });
    page = await browser.newPage();
  });
  afterAll(async () => await browser.close());

  const show = async (html: string, viewport: typeof DESK): Promise<void> => {
    await page.setViewportSize(viewport);
    await page.setContent(html);
  };
  const measured = async (expression: string): Promise<unknown> => await page.evaluate(expression);

  const unfold = async (): Promise<unknown> =>
    await measured("document.querySelectorAll('details').forEach((one) => { one.open = true; })");

  test('the first screen has the sentences and the whole picture', async () => {
    await show(reportHtml(sampleReport()), DESK);
    const picture = await page.locator('header figure .wide svg').boundingBox();
    expect(picture!.y + picture!.height).toBeLessThan(DESK.height);
    expect(picture!.height).toBeGreaterThan(200);
  });

  describe('of large figures and cells of every kind', () => {
    const shape = { repetitions: 4, containerFactor: 50 };
    const cells = [...sampleReport(shape).cells, ...unusualCells(shape)];
    const html = reportHtml(sampleReport({ cells, change: { places: [...CLOUD_PLACES] } }));

    test('every table is whole at 1,280 pixels', async () => {
      await show(html, DESK);
      await unfold();
      const cut = 'one.scrollWidth > one.clientWidth';
      expect(
        await measured(`[...document.querySelectorAll('.scroll')].filter((one) => ${cut}).map((one) => one.ariaLabel)`),
      ).toEqual([]);
      expect(await page.getByRole('table').count()).toBeGreaterThan(7);
    });

    test.each([1_280, 390, 320])('the page fits a window of %i px', async (width) => {
      await show(html, { width, height: 800 });
      await unfold();
      expect(await measured('document.documentElement.scrollWidth')).toBe(width);
      const [shown, other] = width > 640 ? ['wide', 'narrow'] : ['narrow', 'wide'];
      expect(await page.locator(`figure .${shown}`).first().isVisible()).toBe(true);
      expect(await page.locator(`figure .${other}`).first().isVisible()).toBe(false);
      // The first column stays while others scroll. A wider one would cover them.
      const firstColumn = await page.locator('section tbody th').first().boundingBox();
      expect(firstColumn!.width).toBeLessThan(width / 2);
    });
  });

  test('on a phone a default plan with a warning is below 6,000 pixels high', async () => {
    const report = sampleReport();
    Object.assign(report.cells[0]!.runs[0]!.parts[0]!, { isCold: true, isSteady: false });
    await show(reportHtml(report), PHONE);
    const height = await measured('document.documentElement.scrollHeight');
    expect(height).toBeLessThan(PHONE_HEIGHT_MAX_PX);
    // The page is long, so it was rendered.
    expect(height).toBeGreaterThan(3 * PHONE.height);
  });
});
