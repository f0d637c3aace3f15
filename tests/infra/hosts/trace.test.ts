// One put through each cloud's packaged function, as its collector sees it.
import { afterAll, expect, test } from 'vitest';
import { FUNCTIONS, packageAndUnpack } from '../../../infra/package/package.ts';
import { KEYS } from '../../functions/keys.ts';
import { clientOf, JSON_TYPE } from '../../functions/suite/client.ts';
import { attributesOf, type CollectedSpan, startCollector } from '../../support/collector.ts';
import { fileFolder } from '../../support/folder.ts';
import { sendTo, startRecordHosts } from './record-hosts.ts';

const records = FUNCTIONS.filter(({ name }) => name === 'records');
const packages = await packageAndUnpack(await fileFolder(), records);
const collector = await startCollector();
const { gcp, azure, close } = await startRecordHosts(packages, 'traced', {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
});

afterAll(async () => {
  await close();
  collector.close();
});

test.each([
  ['Google', gcp, {}, '11111111111111111111111111111111'],
  ['Azure', azure, { 'x-functions-key': azure.hostKey }, '22222222222222222222222222222222'],
] as const)('on %s a put is a request, a call of the store, and its requests', async (_cloud, host, gate, id) => {
  const client = clientOf('it', sendTo(host, gate), KEYS);
  const caller = 'aaaaaaaaaaaaaaaa';
  await client.put('/v1/tables/traced', JSON_TYPE, '{}');
  const put = await client.put('/v1/tables/traced/records/ada', JSON_TYPE, '1', {
    traceparent: `00-${id}-${caller}-01`,
  });
  expect(put.status).toBe(204);
  const spans = (): CollectedSpan[] => collector.spans.filter(({ traceId }) => traceId === id);
  await expect.poll(() => spans().map(({ parentSpanId }) => parentSpanId)).toContain(caller);
  const below = (parent: string) => spans().filter(({ parentSpanId }) => parentSpanId === parent);
  const [http] = below(caller);
  expect(http?.name).toBe('PUT /v1/tables/:table/records/:key');
  const call = below(http!.spanId).find(({ name }) => name === 'put');
  expect(attributesOf(call!)).toMatchObject({ 'db.collection.name': 'traced', 'stowage.requests': '1' });
  expect(below(call!.spanId)).toMatchObject([{ name: 'provider write', kind: 3, status: {} }]);
  expect(host.output()).toContain(`"traceparent":"00-${id}-${http?.spanId}-01"`);
});
