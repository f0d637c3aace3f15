// Part of the HTTP suite, on what is deployed: each function's zip, unpacked, in its cloud's
// host, against its emulator.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import type { ShortExamination } from '../../../functions/compare/doctor.ts';
import { startAzureHost } from '../../../infra/hosts/azure-host.ts';
import { startGcpHost } from '../../../infra/hosts/gcp-host.ts';
import type { FunctionHost } from '../../../infra/hosts/local-host.ts';
import { folderOf, packageAndUnpack } from '../../../infra/package/package.ts';
import { SHORT } from '../../../shared/drivers/conformance/run.ts';
import { cellResultSchema } from '../../../shared/lab/load/cell.ts';
import { KEYS, tokenOf } from '../../functions/test-keys.ts';
import { type Client, clientOf, expectProblem, JSON_TYPE, type Send } from '../../functions/suite/http-client.ts';
import { describeHost } from '../../functions/suite/host.ts';
import { type CollectedSpan, startCollector } from '../../support/collector.ts';
import { fileFolder } from '../../support/folder.ts';
import { azureEnvironment, gcpEnvironment, sendTo } from './record-hosts.ts';

const packages = await packageAndUnpack(await fileFolder());
const { azurite, env: azureEnv } = await azureEnvironment();
const ORIGIN = 'https://page.example';
const startAzure = (name: string, env: Record<string, string> = {}) =>
  startAzureHost({ bundleDir: folderOf(packages, 'azure', name), env: { ...azureEnv, ...env } });
const collector = await startCollector();
const traced = { STOWAGE_CORS_ORIGINS: ORIGIN, OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
const gcpEnv = gcpEnvironment('hosts');
const startGcp = (target: 'records' | 'compare' | 'vacuum', env: Record<string, string> = {}) =>
  startGcpHost({ bundleDir: folderOf(packages, 'gcp', target), target, env: { ...gcpEnv, ...env } });
const SCHEDULER = 'stowage-dev-cron@stowage-test.iam.gserviceaccount.com';
const SDK = { STOWAGE_TRANSPORT: 'sdk' };
const [azure, azureCompare, azureVacuum, azureOverSdk, gcp, gcpCompare, gcpVacuum, gcpOverSdk] = await Promise.all([
  startAzure('records', traced),
  startAzure('compare'),
  // Without tables: in each it would wait two minutes for what nobody writes.
  startAzure('vacuum', { STOWAGE_TABLES_TABLE: 'vacuumed' }),
  startAzure('records', SDK),
  startGcp('records', traced),
  startGcp('compare'),
  startGcp('vacuum', { STOWAGE_SCHEDULER: SCHEDULER }),
  startGcp('records', SDK),
]);

afterAll(async () => {
  const hosts = [gcpOverSdk, azureOverSdk, gcp, gcpCompare, gcpVacuum, azure, azureCompare, azureVacuum];
  await Promise.all(hosts.map((host) => host.close()));
  await azurite.close();
  collector.close();
});

function askBeforehand(send: Send): (origin: string) => Promise<Response> {
  const asked = { 'Access-Control-Request-Method': 'PUT' };
  return (Origin) => send('/v1/tables/t', { method: 'OPTIONS', headers: { Origin, ...asked } });
}

const azureGate = { 'x-functions-key': azure.hostKey };
const azureCompareGate = { 'x-functions-key': azureCompare.hostKey };
const onAzure = clientOf('the azure host', sendTo(azure, azureGate), KEYS);
const onGcp = clientOf('the functions-framework', sendTo(gcp), KEYS);

// First: a run looks at every table, and those below leave hundreds.
describe('vacuum', () => {
  test('on Google runs for the scheduler and for admins', async () => {
    const { send, as, admin } = clientOf('vacuum', sendTo(gcpVacuum), KEYS);
    await onGcp.freshTable();
    await expectProblem(await send('/v1/vacuum', { method: 'POST' }), 401, 'unauthenticated');
    const scheduler = as(tokenOf({ email: SCHEDULER }));
    for (const by of [scheduler, admin]) {
      const response = await by('/v1/vacuum?quietMs=0', { method: 'POST' });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ tables: expect.any(Number), failed: [] });
    }
    expect(gcpVacuum.output()).toMatch(/"severity":"INFO","message":"vacuum: [1-9]\d* tables/);
  });

  test('on Azure runs by its timer, and takes no request but the one that the platform’s key allows', async () => {
    const run = '/admin/functions/vacuum';
    expect((await sendTo(azureVacuum)(run, { method: 'POST' })).status).toBe(401);
    const gate = { 'x-functions-key': azureVacuum.hostKey };
    expect((await sendTo(azureVacuum, gate)('/v1/vacuum', { method: 'POST' })).status).toBe(404);
    expect(azureVacuum.output()).not.toContain('vacuum: ');
    expect((await sendTo(azureVacuum, gate)(run, { method: 'POST' })).status).toBe(202);
    await expect.poll(() => azureVacuum.output()).toMatch(/"message":"vacuum: 0 tables/);
    expect((await sendTo(azureVacuum)('/v1/health')).status).toBe(200);
  });
});

test.each([
  ['Google', gcpOverSdk, onGcp, {}],
  ['Azure', azureOverSdk, onAzure, { 'x-functions-key': azureOverSdk.hostKey }],
] as const)('%s’s function sends over the SDK by a setting, to the same tables', async (_, host, own, gate) => {
  const path = `${await own.freshTable()}/records/a`;
  const over = clientOf('over the SDK', sendTo(host, gate), KEYS);
  const put = await over.put(path, JSON_TYPE, '{"n":1}');
  expect([put.status, await put.text()]).toEqual([204, '']);
  const record = await own.admin(path);
  expect([record.status, await record.json()]).toEqual([200, { n: 1 }]);
});

describeHost(onAzure);
describeHost(onGcp);
describe.each([
  ['the azure host', azure, onAzure, azureGate],
  ['the functions-framework', gcp, onGcp, {}],
] as const)('%s', (_name, host, client: Client, gate) => {
  const asAdmin = { ...gate, Authorization: `Bearer ${KEYS.admin}` };

  test('answers only on 127.0.0.1', async () => {
    const { port } = new URL(host.url);
    // Another address of the loopback network: a host bound to every address would answer here.
    await expect(fetch(`http://127.0.0.2:${port}/v1/health`)).rejects.toThrow('fetch failed');
  });

  test('answers a page’s question beforehand without a key, if its origin may call', async () => {
    const ask = askBeforehand(sendTo(host));
    expect((await ask(ORIGIN)).headers.get('Access-Control-Allow-Methods')).toContain('PATCH');
    await expectProblem(await ask('https://other.example'), 405, 'method_not_allowed');
  });

  test('keeps a connection on which a body was refused', async () => {
    const headers = { ...asAdmin, 'Content-Type': 'application/octet-stream' };
    const piece = `80000\r\n${'x'.repeat(0x80000)}\r\n`;
    const next = 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const line = 'PUT /v1/tables/nowhere/records/k HTTP/1.1';
    const chunked = { ...headers, Connection: 'keep-alive', 'Transfer-Encoding': 'chunked' };
    const answer = await rawRequest(host, line, chunked, `${piece.repeat(4)}0\r\n\r\n${next}`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  // A front that reads the length otherwise would hand the rest on as somebody's next request.
  test.each([
    { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' },
    { 'Content-Length': '0, 5' },
    { 'Transfer-Encoding': 'chunked, identity' },
    { 'Transfer-Encoding ': 'chunked' },
  ])('refuses a body of two lengths, and answers nothing that hides in it: %j', async (lengths) => {
    const headers = { ...asAdmin, Connection: 'keep-alive', ...lengths };
    const hidden = '0\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const answer = await rawRequest(host, 'POST /v1/tables/nowhere/batch HTTP/1.1', headers, hidden);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
  });

  test.each([
    ['with a method that fetch does not know', 'TRACE /v1/tables', /^HTTP\/1\.1 40[45] (?![^]*<html)/],
    ['as one to a proxy', 'GET http://elsewhere.example/v1/tables/nowhere', /"code":"table_not_found"/],
    ['with a bare #', 'DELETE /v1/tables/nowhere#else', /^HTTP\/1\.1 400 [^]*"code":"malformed"/],
  ])('answers a target %s by a problem', async (_what, target, answer) => {
    expect(await rawRequest(host, `${target} HTTP/1.1`, asAdmin)).toMatch(answer);
  });

  test.each(['DELETE {table}/records/..', 'PUT {table}/records/zz/../victim', 'PUT {table}/records/zz\\victim'])(
    'refuses a target that a parser takes for another: %s',
    async (line) => {
      const table = await client.freshTable();
      const headers = { ...asAdmin, 'Content-Type': JSON_TYPE, 'Content-Length': '1' };
      const answer = await rawRequest(host, `${line.replace('{table}', table)} HTTP/1.1`, headers, '1');
      expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"malformed"[^]*: write /);
      expect(await client.json(`${table}/records`)).toEqual({ records: [] });
    },
  );

  test('a put is a request, a call of the store, and its requests, as a collector sees it', async () => {
    const id = randomBytes(16).toString('hex');
    const caller = 'aaaaaaaaaaaaaaaa';
    await client.put('/v1/tables/traced', JSON_TYPE, '{}');
    const put = await client.put('/v1/tables/traced/records/ada', JSON_TYPE, '1', {
      traceparent: `00-${id}-${caller}-01`,
    });
    expect(put.status).toBe(204);
    const spans = (): CollectedSpan[] => collector.spans.filter(({ traceId }) => traceId === id);
    await expect.poll(() => spans().map(({ parentSpanId }) => parentSpanId)).toContain(caller);
    const http = spans().find(({ parentSpanId }) => parentSpanId === caller);
    const names = spans().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([http!.name, 'put', 'provider write']));
    expect(host.output()).toContain(`"traceparent":"00-${id}-${http?.spanId}-01"`);
  });

  test('logs one line a request, without keys of access, keys of records or values', async () => {
    const requestId = 'log-test-0001';
    await client.put('/v1/tables/nowhere/records/secret-key', JSON_TYPE, '"secret-value"', {
      'X-Request-Id': requestId,
      traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01',
    });
    const lines = host
      .output()
      .split('\n')
      .filter((line) => line.includes('0123456789abcdef0123456789abcdef'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      severity: 'INFO',
      requestId: expect.any(String),
      route: '/v1/tables/:table/records/:key',
      table: 'nowhere',
      status: 404,
      code: 'table_not_found',
      durationMs: expect.any(Number),
    });
    expect(host.output()).not.toMatch(/secret-|reader-key|writer-key|admin-key/);
  });
});

describe('the azure host', () => {
  test('asks for the function key before the function is called, except for health and the page', async () => {
    for (const [app, target] of [
      [azure, '/v1/health'],
      [azureCompare, '/v1/health'],
      [azureCompare, '/v1/compare'],
    ] as const)
      expect((await sendTo(app)(target)).status).toBe(200);
    for (const [app, target] of [
      [azure, '/v1/tables'],
      [azureCompare, '/v1/compare/cells'],
      [azure, '/elsewhere'],
    ] as const) {
      const response = await sendTo(app)(target, { headers: { Authorization: `Bearer ${KEYS.admin}` } });
      expect([target, response.status, await response.text()]).toEqual([target, 401, '']);
    }
    expect((await sendTo(azure, { 'x-functions-key': 'wrong' })('/v1/tables')).status).toBe(401);
    // No page may call this one, which therefore answers no browser's question beforehand.
    expect((await askBeforehand(sendTo(azureOverSdk))(ORIGIN)).status).toBe(401);
  });
});

describe.each([
  ['azure-tables', azureCompare, azureCompareGate, sendTo(azure, azureGate)],
  ['datastore', gcpCompare, {}, sendTo(gcp)],
] as const)('compare on %s', (provider, host, gate, toRecords) => {
  const { as } = clientOf(provider, sendTo(host, gate), KEYS);
  const compare = as(KEYS.compare);
  const cell = {
    layout: 'container',
    workload: 'load',
    callers: 2,
    durationMs: 100,
    warmup: { leastMs: 0, mostMs: 0 },
    dataset: 'hosttest',
  };
  const remove = (dataset: string): Promise<Response> =>
    compare(`/v1/compare/datasets/${dataset}`, { method: 'DELETE' });

  test('runs a cell next to its store, and says where it ran and from what it was built', async () => {
    const [one, other] = [await post(compare, cell), await post(compare, { ...cell, insertFrom: 100_000 })];
    expect([one.status, other.status]).toEqual([200, 200]);
    const [first, second] = [cellResultSchema.parse(await one.json()), cellResultSchema.parse(await other.json())];
    expect(first).toMatchObject({ provider, layout: 'container', errors: {}, isCold: true });
    expect(first.usage.requests).toBeGreaterThan(0);
    expect(first.place).toMatchObject({
      provider,
      platform: 'local',
      isEmulator: true,
      region: null,
      runtime: `Node.js ${process.versions.node}`,
      versions: { '@stowage/store': expect.any(String), msgpackr: expect.any(String) },
    });
    expect(second).toMatchObject({ place: first.place, isCold: false });
  });

  test('ends a cell whose caller hangs up, and removes what it made', async () => {
    // Long enough that only the hanging up can end it within the test's time; found again in the
    // log by its dataset's removal.
    const endless = { ...cell, layout: 'record', durationMs: 60_000, dataset: 'hangup' };
    const caller = new AbortController();
    const hungUp = post((target, init) => compare(target, { ...init, signal: caller.signal }), endless);
    const began = { ...endless, dataset: 'began', durationMs: 1_000 };
    expect((await post(compare, began)).status).toBe(200);
    caller.abort();
    await expect(hungUp).rejects.toThrow(/abort/);
    await expect.poll(() => host.output()).toMatch(/cells 503".*"code":"aborted"/);
    for (const dataset of ['hangup', 'began', 'hosttest']) expect((await remove(dataset)).status).toBe(204);
    // Its records are new again: the layout `record` inserts, and the seed is the same.
    const again = (await (await post(compare, { ...began, durationMs: 100 })).json()) as { errors: object };
    expect(again.errors).toEqual({});
    expect((await remove('began')).status).toBe(204);
  });

  test('fills and removes a dataset that has the name of a user’s table, and leaves the table alone', async () => {
    const { admin, drop, json, put } = clientOf(provider, toRecords, KEYS);
    const table = '/v1/tables/users';
    expect((await put(table, JSON_TYPE, '{"order":"key"}')).status).toBe(201);
    expect((await put(`${table}/records/ada`, JSON_TYPE, '1')).status).toBe(204);
    for (const layout of ['container', 'record']) {
      const dataset = { layout, dataset: 'users', records: 20 };
      expect((await postTo(compare, '/v1/compare/datasets', dataset)).status).toBe(204);
      expect(await json(`${table}/records`)).toMatchObject({ records: [{ key: 'ada', value: 1 }] });
    }
    expect((await remove('users')).status).toBe(204);
    expect(await json(`${table}/records`)).toMatchObject({ records: [{ key: 'ada', value: 1 }] });
    // Nor do the dataset's own things show among the users'.
    expect(await (await admin('/v1/tables')).text()).not.toContain('comparison');
    expect((await drop(table)).status).toBe(204);
  });

  test.each(['own', 'sdk'])(
    'tries the promises over the transport %s, and tells which are broken',
    async (transport) => {
      const response = await postTo(compare, '/v1/compare/doctor', { transport });
      const { checks, broken } = (await response.json()) as ShortExamination;
      expect(checks).toBe(SHORT.length);
      // Azurite, without its strict front, does not check the size that a merge results in.
      const known = 'a patch that makes an entity far too large is refused for its limit';
      expect(broken.map(({ check }) => check)).toEqual(provider === 'azure-tables' ? [known] : []);
    },
  );
});

/**
 * Sends a request that fetch would refuse or change; gives what comes until the host closes the
 * connection.
 */
function rawRequest(host: FunctionHost, line: string, headers: Record<string, string>, payload = ''): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(host.url).port), '127.0.0.1');
  const head = Object.entries({ Host: 'localhost', Connection: 'close', ...headers });
  let answer = '';
  socket.setEncoding('utf8').setTimeout(60_000, () => socket.destroy(new Error('no answer')));
  socket.on('data', (text) => (answer += String(text)));
  socket.once('end', () => resolve(answer)).once('error', reject);
  socket.write(`${line}\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${payload}`);
  return promise;
}

function post(through: Send, body: unknown): Promise<Response> {
  return postTo(through, '/v1/compare/cells', body);
}

function postTo(through: Send, target: string, body: unknown): Promise<Response> {
  return through(target, { method: 'POST', headers: { 'Content-Type': JSON_TYPE }, body: JSON.stringify(body) });
}
