// The live page in Chromium, on functions of both clouds that run nothing: two servers, so two
// origins. Skipped where there is no Chromium.
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pageText } from '../../../infra/package/bundle-page.ts';
import type { CellRequest } from '../../../shared/lab/load/cell.ts';
import { type Provider, PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { openLink } from '../../../shared/lab/page/link.ts';
import { reportSchema } from '../../../shared/lab/report/report-schema.ts';
import { CHROMIUM } from '../../support/chromium.ts';
import { fakeResult } from '../../lab/fakes.ts';
import { fakeCompareApp, serveApp } from './fake-app.ts';

const KEY = 'a-compare-key-for-this-test';

/** The label of the field that has the focus, else its text. */
const FOCUSED_NAME =
  "document.activeElement === document.body ? 'the end' : (document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()";

interface FakeFunction {
  readonly url: string;
  readonly removed: string[];
  close(): void;
}

let answer: (request: CellRequest, provider: Provider, signal: AbortSignal) => Promise<void>;

async function startFunction(provider: Provider): Promise<FakeFunction> {
  const removed: string[] = [];
  const app = fakeCompareApp(provider, KEY, {
    page: Buffer.from(await pageText(provider)),
    runCell: async (request, signal) => {
      await answer(request, provider, signal);
      return fakeResult(request, provider);
    },
    removeDataset: async (dataset) => void removed.push(dataset),
  });
  return { ...(await serveApp(app)), removed };
}

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let functions: Readonly<Record<Provider, FakeFunction>>;
  /** Errors that the browser reported. */
  let complaints: string[];

  beforeAll(async () => {
    // Chromium's own sandbox does not start for root, nor in most containers; it opens nothing but
    // this test's pages.
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] });
    const [datastore, azure] = await Promise.all(PROVIDERS.map(startFunction));
    functions = { datastore: datastore!, 'azure-tables': azure! };
  });
  afterAll(async () => {
    await browser.close();
    for (const one of Object.values(functions)) one.close();
  });

  beforeEach(async () => {
    answer = async () => {};
    complaints = [];
    for (const { removed } of Object.values(functions)) removed.length = 0;
    page = await browser.newPage({ acceptDownloads: true });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load')) complaints.push(message.text());
    });
    await page.goto(`${functions.datastore.url}/v1/compare`);
  });
  afterEach(async () => {
    await page.close();
    if (complaints.length > 0) throw new Error(complaints.join('\n'));
  });

  /** Both clouds: their cells, by 2 rungs. */
  const CELLS = 23 * 2;

  async function fillIn(repetitions = '2'): Promise<void> {
    await page.fill('[name=datastore-key]', KEY);
    await page.fill('[name=azure-tables-url]', `${functions['azure-tables'].url}/v1/compare`);
    await page.fill('[name=azure-tables-key]', KEY);
    await page.getByLabel('Callers, a rung each').fill('1, 4');
    await page.getByLabel('Seconds a run').fill('0.2');
    await page.getByLabel('Runs of each cell').fill(repetitions);
  }

  const start = (): Promise<void> => page.getByRole('button', { name: 'Start' }).click();
  const ended = (): Promise<unknown> => page.waitForSelector('#downloads:not([hidden])');
  const runs = async (): Promise<void> => {
    await start();
    await ended();
  };
  const problem = async (): Promise<string | null> => {
    await start();
    return await page.textContent('#problem');
  };
  const status = (): Promise<string | null> => page.textContent('#status');
  const progress = () => page.getAttribute('#progress', 'value');

  async function download(name: string): Promise<string> {
    const downloaded = page.waitForEvent('download');
    await page.getByRole('link', { name, exact: true }).click();
    return await readFile(await (await downloaded).path(), 'utf8');
  }

  test('the page runs a plan on both clouds, and hands out the report as page, data and CSV', async () => {
    await fillIn('1');
    expect(await page.textContent('#size')).toMatch(/ at least on both clouds$/);
    await runs();
    expect(await status()).toBe('Done. What was made is removed.');
    const report = reportSchema.parse(JSON.parse(await download('data')));
    expect(report.cells).toHaveLength(CELLS);
    expect(report).toMatchObject({ endedEarly: null, failures: [], plan: { name: 'custom', callers: [1, 4] } });
    expect((await download('CSV')).trimEnd().split('\n')).toHaveLength(1 + CELLS);
    for (const { removed } of Object.values(functions)) expect(removed.length).toBeGreaterThan(0);
    const [shown, html] = [await page.innerHTML('#rows'), await download('page')];
    await page.setContent(html);
    expect(await page.innerHTML('#rows')).toBe(shown);
    expect(await page.locator('#live').isVisible()).toBe(false);
  });

  test('a cancelled run gives the report of what there is, and removes what was made', async () => {
    let asked = 0;
    answer = async (_request, _provider, signal) => {
      asked += 1;
      if (asked > 5) await once(signal, 'abort');
    };
    await fillIn();
    await start();
    await expect.poll(progress).toBe('5');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await ended();
    expect(await status()).toBe('Ended early: cancelled. What was made is removed.');
    const report = reportSchema.parse(JSON.parse(await download('data')));
    expect(report.endedEarly).toBe('cancelled');
    expect(report.cells.flatMap(({ runs }) => runs)).toHaveLength(5);
    expect(await page.getByRole('button', { name: 'Start' }).isEnabled()).toBe(true);
  });

  test('a link fills in addresses and keys, which are sent nowhere else and kept nowhere', async () => {
    const [datastore, azure] = [functions.datastore.url, functions['azure-tables'].url];
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.url()} ${JSON.stringify(request.headers())}`));
    await page.goto('about:blank');
    await page.goto(
      openLink(
        { datastore, 'azure-tables': azure },
        { datastore: { key: KEY }, 'azure-tables': { key: KEY, gate: 'a-function-key' } },
      ),
    );
    expect(page.url()).toBe(`${datastore}/v1/compare`);
    expect(await page.inputValue('[name=azure-tables-url]')).toBe(azure);
    expect(await page.inputValue('[name=azure-tables-gate]')).toBe('a-function-key');
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toContain('key');
    await page.getByLabel('Callers, a rung each').fill('1');
    await page.getByLabel('Runs of each cell').fill('1');
    await runs();
    expect(await status()).toBe('Done. What was made is removed.');
    const toDatastore = asked.filter((one) => one.startsWith(datastore));
    expect(toDatastore.join()).not.toContain('a-function-key');
    expect(asked.filter((one) => one.startsWith(azure) && one.includes('a-function-key'))).not.toEqual([]);
    expect(asked.filter((one) => !one.startsWith(datastore) && !one.startsWith(azure))).toEqual([]);
    const kept = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
    expect(kept).toEqual([0, 0, '']);
    for (const name of ['page', 'data', 'CSV'])
      expect(await download(name)).not.toMatch(/a-compare-key|a-function-key/);
  });

  test('the page says what is missing or wrong before it calls anything', async () => {
    expect(await problem()).toBe('Give the app key of at least one cloud.');
    await fillIn();
    await page.fill('[name=azure-tables-url]', '');
    expect(await problem()).toBe('Azure Table Storage: the address of its function is missing.');
    await page.fill('[name=azure-tables-url]', functions['azure-tables'].url);
    await page.getByLabel('Callers, a rung each').fill('1, 0');
    expect(await problem()).toMatch(/^callers 1: Too small/);
    await page.getByLabel('Callers, a rung each').fill('1, 4');
    await page.getByLabel('Seconds a run').fill('0');
    await start();
    expect(await page.evaluate(FOCUSED_NAME)).toBe('Seconds a run');
    expect(await page.locator('#progress').isVisible()).toBe(false);
  });

  test('the page tells a wrong key or address before anything is made, and takes it back when it is right', async () => {
    await fillIn('1');
    for (const [field, value, told] of [
      ['key', 'a-key-of-somebody-else', /HTTP 401: the app key is not one of the configured keys$/],
      ['url', 'http://127.0.0.1:1', /127\.0\.0\.1:1 gave no answer that this page may read: is the address right/],
      ['url', functions.datastore.url, /is on datastore, not on azure/],
    ] as const) {
      const right = await page.inputValue(`[name=azure-tables-${field}]`);
      await page.fill(`[name=azure-tables-${field}]`, value);
      await start();
      await expect.poll(() => page.textContent('#problem')).toMatch(told);
      await expect.poll(() => page.getByRole('button', { name: 'Start' }).isEnabled()).toBe(true);
      expect(functions.datastore.removed).toEqual([]);
      expect(await page.evaluate('localStorage.length')).toBe(0);
      await page.fill(`[name=azure-tables-${field}]`, right);
    }
    await runs();
    expect(await page.locator('#problem').isVisible()).toBe(false);
  });

  test('a tab that was closed leaves names, and commands that remove them, for the next visit', async () => {
    answer = async (_request, _provider, signal) => void (await once(signal, 'abort'));
    await page.close();
    const context = await browser.newContext();
    page = await context.newPage();
    await page.goto(`${functions.datastore.url}/v1/compare`);
    await fillIn('1');
    await page.fill('[name=azure-tables-key]', '');
    await start();
    await expect.poll(() => page.evaluate('localStorage.length')).toBe(1);
    const next = await context.newPage();
    await page.close();
    page = next;
    await page.goto(`${functions.datastore.url}/v1/compare`);
    const commands = await page.textContent('#made pre');
    expect(commands).toMatch(
      /^curl -X DELETE -H "\$H" -H "\$GATE" http:\/\/127\.0\.0\.1:\d+\/v1\/compare\/datasets\/p[a-z0-9]+$/,
    );
    await page.getByRole('button', { name: 'Forget them' }).click();
    expect(await page.locator('#made').isVisible()).toBe(false);
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });

  test('the page works by keyboard: every field has a name and comes in turn', async () => {
    const names: unknown[] = [];
    for (let at = 0; at < 20; at += 1) {
      await page.keyboard.press('Tab');
      names.push(await page.evaluate(FOCUSED_NAME));
    }
    const cloud = ['Address of its function', 'App key (compare)', 'ID token, if private'];
    expect(names.slice(0, 3)).toEqual(cloud);
    expect(names).toContain('Start');
    expect(names).not.toContain('');
  });
});
