// The function `compare`, in this process, with a cell that does as it is told.
import { describe, expect, test } from 'vitest';
import { placeOf } from '../../lab/report/sample-report.ts';
import type { App } from '../../../functions/http/app.ts';
import type { CellRequest, CellResult, DatasetRequest } from '../../../shared/lab/load/cell.ts';
import { CellError } from '../../../shared/lab/load/run.ts';
import { fakeCompareApp } from './fake-app.ts';

const cell = { layout: 'record', workload: 'ycsb-c', callers: 1, dataset: 'abc' };

const HTML = '<style>p{}</style><script>1</script>';
const PAGE = { html: Buffer.from(HTML), br: Buffer.from('as brotli'), gzip: Buffer.from('as gzip') };

type RunCell = (request: CellRequest, signal: AbortSignal) => Promise<CellResult>;

const untilAborted: RunCell = (_request, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));

type PrepareDataset = (request: DatasetRequest, signal: AbortSignal) => Promise<void>;

function appOf(runCell: RunCell, removed: string[] = [], prepareDataset: PrepareDataset = async () => {}): App {
  return fakeCompareApp('datastore', 'c', {
    auth: { mode: 'keys', keys: { read: ['r'], write: ['w'], admin: ['a'], compare: ['c'] } },
    timeoutMs: 1_000,
    page: PAGE,
    runCell,
    prepareDataset,
    removeDataset: async (dataset) => void removed.push(dataset),
  });
}

function post(runCell: RunCell, given: Record<string, string> = {}, body: unknown = cell): Promise<Response> {
  return postTo(appOf(runCell), given, body);
}

function postTo(app: App, given: Record<string, string> = {}, body: unknown = cell, path = 'cells'): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer c', ...given };
  const sent = { method: 'POST', body: JSON.stringify(body), headers };
  return app.fetch(new Request(`http://localhost/v1/compare/${path}`, sent));
}

test('fills in the defaults of a cell, and gives its result back', async () => {
  let seen: CellRequest | undefined;
  const response = await post(async (request) => {
    seen = request;
    return { records: 7 } as CellResult;
  });
  expect(await response.json()).toEqual({ records: 7 });
  expect(seen).toMatchObject({ ...cell, durationMs: 1_000, recordBytes: 1_000 });
});

test('a cell in which nothing succeeded is unavailable, with the reason', async () => {
  const response = await post(() =>
    Promise.reject(new CellError('no operation succeeded: throttled=3', { throttled: 3 })),
  );
  expect(await response.json()).toMatchObject({
    status: 503,
    code: 'unavailable',
    detail: expect.stringContaining('throttled=3'),
  });
});

test('a cell ends with its deadline', async () => {
  const response = await post(untilAborted, { 'Stowage-Timeout-Ms': '5' });
  expect(await response.json()).toMatchObject({ status: 503, code: 'aborted' });
});

test.each([{ ...cell, callers: 0 }, { ...cell, url: 'http://peer' }, [], 'x'])('%j is no cell', async (body) => {
  const response = await post(() => Promise.reject(new Error('not reached')), {}, body);
  expect(await response.json()).toMatchObject({ status: 400, code: 'invalid' });
});

function remove(app: App, dataset: string, given: Record<string, string> = {}): Promise<Response> {
  const headers = { Authorization: 'Bearer c', ...given };
  return app.fetch(new Request(`http://localhost/v1/compare/datasets/${dataset}`, { method: 'DELETE', headers }));
}

function get(path: string, headers: Record<string, string>): Promise<Response> {
  return appOf(untilAborted).fetch(new Request(`http://localhost${path}`, { headers }));
}

test('says where it runs', async () => {
  expect(await (await get('/v1/compare/place', { Authorization: 'Bearer c' })).json()).toEqual(placeOf('datastore'));
});

test('removes a dataset of a name that one may have', async () => {
  const removed: string[] = [];
  const app = appOf(untilAborted, removed);
  expect((await remove(app, 'a%20b')).status).toBe(400);
  expect((await remove(app, 'abc')).status).toBe(204);
  expect(removed).toEqual(['abc']);
});

test('removes a dataset when its cells have ended, as they may write until then', async () => {
  const removed: string[] = [];
  const end = Promise.withResolvers<CellResult>();
  const app = appOf(() => end.promise, removed);
  const posted = postTo(app, { 'Stowage-Timeout-Ms': '60000' });
  // Another dataset's removal does not wait; when it has been answered, the cell has begun.
  await remove(app, 'other');
  const removal = remove(app, 'abc', { 'Stowage-Timeout-Ms': '60000' });
  await remove(app, 'other');
  expect(removed).toEqual(['other', 'other']);
  end.resolve({} as CellResult);
  await posted;
  expect((await removal).status).toBe(204);
  expect(removed).toEqual(['other', 'other', 'abc']);
});

test('does not remove a dataset whose cell outlasts the deadline, and says so', async () => {
  const removed: string[] = [];
  const app = appOf(() => new Promise(() => {}), removed);
  void postTo(app);
  await remove(app, 'other');
  const response = await remove(app, 'abc', { 'Stowage-Timeout-Ms': '5' });
  expect(await response.json()).toMatchObject({ status: 503, code: 'aborted' });
  expect(removed).toEqual(['other']);
});

function prepare(app: App, body: unknown, given: Record<string, string> = {}): Promise<Response> {
  return postTo(app, given, body, 'datasets');
}

test('loads a dataset with the defaults filled in', async () => {
  const seen: DatasetRequest[] = [];
  const app = appOf(untilAborted, [], async (request) => void seen.push(request));
  expect((await prepare(app, { layout: 'record' })).status).toBe(400);
  expect(seen).toEqual([]);
  expect((await prepare(app, { layout: 'record', dataset: 'abc' })).status).toBe(204);
  expect(seen).toMatchObject([
    { layout: 'record', dataset: 'abc', records: 10_000, recordBytes: 1_000, recordForm: 'ycsb', rampedSinceMs: null },
  ]);
});

test('a load ends with its deadline', async () => {
  const app = appOf(untilAborted, [], async (_request, signal) => {
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
  });
  const response = await prepare(app, { layout: 'record', dataset: 'abc' }, { 'Stowage-Timeout-Ms': '5' });
  expect(await response.json()).toMatchObject({ status: 503, code: 'aborted' });
});

describe('the live page', () => {
  test.each([
    ['gzip, deflate, br', 'br', 'as brotli'],
    ['gzip;q=0.5, br;q=0', 'gzip', 'as gzip'],
    ['zstd', null, HTML],
    ['', null, HTML],
  ])('to a caller that takes "%s" goes as %s', async (accepted, encoding, text) => {
    const response = await get('/v1/compare', { 'Accept-Encoding': accepted });
    expect(response.headers.get('Content-Encoding')).toBe(encoding);
    expect(response.headers.get('Vary')).toBe('Accept-Encoding');
    expect(await response.text()).toBe(text);
  });

  test('is kept for ten minutes, and then not sent again while it is the same', async () => {
    const first = await get('/v1/compare', { 'Accept-Encoding': 'br' });
    expect(first.headers.get('Cache-Control')).toBe('public, max-age=600');
    const etag = first.headers.get('ETag')!;
    const again = await get('/v1/compare', { 'Accept-Encoding': 'br', 'If-None-Match': `"other", W/${etag}` });
    expect([again.status, await again.text(), again.headers.get('ETag')]).toEqual([304, '', etag]);
    expect(again.headers.get('Cache-Control')).toBe('public, max-age=600');
    // Another form has an ETag of its own.
    expect((await get('/v1/compare', { 'Accept-Encoding': 'gzip', 'If-None-Match': etag })).status).toBe(200);
  });
});
