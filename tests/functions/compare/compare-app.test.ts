// The function `compare`, in this process, with a cell that does as it is told.
import { expect, test } from 'vitest';
import type { CompareAppOptions } from '../../../functions/compare/compare-app.ts';
import type { CellRequest, CellResult } from '../../../shared/lab/load/cell.ts';
import { CellError } from '../../../shared/lab/load/run-cell.ts';
import { fakeCompareApp } from './fake-app.ts';

const cell = { layout: 'record', workload: 'ycsb-c', callers: 1, dataset: 'abc' };

const HTML = '<style>p{}</style><script>1</script>';

type RunCell = (request: CellRequest, signal: AbortSignal) => Promise<CellResult>;

const untilAborted = (_request: unknown, signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));

function appOf(runCell: RunCell, more: Partial<CompareAppOptions> = {}) {
  const removed: string[] = [];
  const app = fakeCompareApp('datastore', 'c', {
    auth: { mode: 'keys', keys: { read: ['r'], write: ['w'], admin: ['a'], compare: ['c'] } },
    timeoutMs: 1_000,
    page: Buffer.from(HTML),
    runCell,
    removeDataset: async (dataset) => void removed.push(dataset),
    ...more,
  });
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
    const given = { 'Content-Type': 'application/json', Authorization: 'Bearer c', ...headers };
    const init = { method, headers: given, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return app.fetch(new Request(`http://localhost/v1/compare${path}`, init));
  };
  return {
    removed,
    get: (path: string, headers?: Record<string, string>) => send('GET', path, headers),
    post: (headers?: Record<string, string>, body: unknown = cell) => send('POST', '/cells', headers, body),
    prepare: (body: unknown, headers?: Record<string, string>) => send('POST', '/datasets', headers, body),
    remove: (dataset: string, headers?: Record<string, string>) => send('DELETE', `/datasets/${dataset}`, headers),
  };
}

const SOON = { 'Stowage-Timeout-Ms': '5' };
const LATE = { 'Stowage-Timeout-Ms': '60000' };
const ABORTED = { status: 503, code: 'aborted' };

test('the function fills in the defaults of a cell, and answers with its result', async () => {
  let seen: CellRequest | undefined;
  const { post } = appOf(async (request) => {
    seen = request;
    return { records: 7 } as CellResult;
  });
  expect(await (await post()).json()).toEqual({ records: 7 });
  expect(seen).toMatchObject({ ...cell, durationMs: 1_000, recordBytes: 1_000 });
});

test('a cell in which nothing succeeded is unavailable, with the reason', async () => {
  const error = new CellError('no operation succeeded: throttled=3', { throttled: 3 });
  const response = await appOf(() => Promise.reject(error)).post();
  const detail = expect.stringContaining('throttled=3') as string;
  expect(await response.json()).toMatchObject({ status: 503, code: 'unavailable', detail });
});

test('a cell, and a load, end with their deadline', async () => {
  const { post, prepare } = appOf(untilAborted, { prepareDataset: untilAborted });
  expect(await (await post(SOON)).json()).toMatchObject(ABORTED);
  expect(await (await prepare({ layout: 'record', dataset: 'abc' }, SOON)).json()).toMatchObject(ABORTED);
});

test.each([{ ...cell, callers: 0 }, { ...cell, url: 'http://peer' }, [], 'x'])(
  'the function refuses %j as a cell',
  async (body) => {
    const response = await appOf(() => Promise.reject(new Error('not reached'))).post({}, body);
    expect(await response.json()).toMatchObject({ status: 400, code: 'invalid' });
  },
);

test('the function removes a dataset, and refuses a name that none can have', async () => {
  const { remove, removed } = appOf(untilAborted);
  expect((await remove('a%20b')).status).toBe(400);
  expect((await remove('abc')).status).toBe(204);
  expect(removed).toEqual(['abc']);
});

test('the function removes a dataset once its cells have ended, as they may write until then', async () => {
  const end = Promise.withResolvers<CellResult>();
  const { post, remove, removed } = appOf(() => end.promise);
  const posted = post(LATE);
  // Another dataset's removal does not wait; when it has been answered, the cell has begun.
  await remove('other');
  const removal = remove('abc', LATE);
  await remove('other');
  expect(removed).toEqual(['other', 'other']);
  end.resolve({} as CellResult);
  await posted;
  expect((await removal).status).toBe(204);
  expect(removed).toEqual(['other', 'other', 'abc']);
});

test('the function keeps a dataset whose cell outlasts the deadline, and says so', async () => {
  const { post, remove, removed } = appOf(() => new Promise(() => {}));
  void post();
  await remove('other');
  expect(await (await remove('abc', SOON)).json()).toMatchObject(ABORTED);
  expect(removed).toEqual(['other']);
});

test('the page is cached for ten minutes, and may run its own script and style alone', async () => {
  const response = await appOf(untilAborted).get('');
  expect(await response.text()).toBe(HTML);
  expect(response.headers.get('Cache-Control')).toBe('public, max-age=600');
  expect(response.headers.get('Content-Security-Policy')).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']*'; style-src-elem 'sha256-[^']*'; /,
  );
});
