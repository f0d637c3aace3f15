// The embedded server alone: its clock, its cuts of large answers, its end.
import { afterAll, beforeEach, expect, test } from 'vitest';
import { checkedProperty } from '../../../../infra/emulators/datastore/entities/entities.ts';
import { startDatastoreEmulator } from '../../../../infra/emulators/datastore/index.ts';
import {
  ascending,
  blob,
  CODE,
  comparison,
  contentOf,
  descending,
  expectCode,
  insert,
  integer,
  key,
  namesOf,
  PROJECT_ID,
  remove,
  serviceAt,
  update,
  upsert,
} from './protocol-service.ts';

let nowMs = Date.parse('2026-11-21T12:00:00Z');
const emulator = await startDatastoreEmulator({ nowMs: () => nowMs });
const service = serviceAt(`http://${emulator.address}`);

afterAll(async () => {
  await service.close();
  await emulator.close();
});

beforeEach(() => emulator.reset());

test('a reset forgets entities and transactions', async () => {
  await service.commit([insert(key('K', 'a'))]);
  const transaction = await service.begin();
  emulator.reset();
  expect(await contentOf(service, key('K', 'a'))).toBeUndefined();
  await expectCode(CODE.invalid, service.commitIn(transaction, []));
});

test('a transaction expires when it is idle for 60 seconds', async () => {
  const transaction = await service.begin();
  nowMs += 60_001;
  await expectCode(CODE.invalid, service.commitIn(transaction, [upsert(key('K', 'a'))]));
});

test('a transaction that is used expires after 270 seconds', async () => {
  const transaction = await service.begin();
  for (let step = 0; step < 5; step += 1) {
    nowMs += 50_000;
    await service.lookup([key('K', 'a')], { readOptions: { transaction } });
  }
  nowMs += 30_000;
  await expectCode(CODE.invalid, service.lookup([key('K', 'a')], { readOptions: { transaction } }));
});

test('a lookup that would answer more than 4 MiB defers the rest, and a batch of query results ends before', async () => {
  const keys = Array.from({ length: 6 }, (_, id) => key('K', id + 1));
  for (const each of keys) await service.commit([upsert(each, { x: blob(1_000_000) })]);
  const first = await service.lookup(keys);
  expect([first.found!.length, first.deferred!.length]).toEqual([4, 2]);
  const second = await service.lookup(first.deferred!);
  expect(second.found).toHaveLength(2);
  const batch = await service.query({ kind: [{ name: 'K' }] });
  expect([namesOf(batch).length, batch.moreResults]).toEqual([4, 'NOT_FINISHED']);
});

test('the message of a refusal names the field at fault', async () => {
  const mutations = [upsert(key('K', 'a')), upsert(key('K', 'b'), { x: {} })];
  await expect(service.commit(mutations)).rejects.toThrow('mutations[1].upsert.properties.x: has no value set');
});

test('a message that would be too long for a header loses its middle', async () => {
  const long = 'ü'.repeat(700);
  const path = [1, 2, 3, 4].flatMap(() => ['K', long]);
  const error: unknown = await service.commit([update(key(...path))]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: CODE.notFound, details: expect.stringMatching(/^there is no .+ to update$/) });
  expect((error as { details: string }).details.length).toBeLessThan(1_000);
});

test('what is deleted again and again, and asked for only then, leaves nothing behind', async () => {
  const ids = Array.from({ length: 400 }, (_, id) => id + 1);
  for (let round = 0; round < 8; round += 1) {
    await service.commit(ids.map((id) => upsert(key('K', round * 1_000 + id))));
    await service.commit(ids.map((id) => remove(key('K', round * 1_000 + id))));
  }
  await service.commit([upsert(key('K', 5)), upsert(key('K', 3))]);
  const batch = await service.query({ kind: [{ name: 'K' }] });
  expect(batch.entityResults!.map(({ entity }) => Number(entity!.key!.path![0]!.id))).toEqual([3, 5]);
});

test('what it does not do is UNIMPLEMENTED, and the message says what, and who does it', async () => {
  const query = { kind: [{ name: 'K' }] };
  const transform = { property: 'x', increment: integer(1) };
  for (const [field, call] of [
    ['property_transforms', service.commit([{ ...upsert(key('K', 'a')), propertyTransforms: [transform] }])],
    ['meaning', service.commit([upsert(key('K', 'a'), { x: { stringValue: 'a', meaning: 15 } })])],
    ['RunAggregationQuery', service.client.runAggregationQuery({ projectId: PROJECT_ID })],
    ['ReserveIds', service.client.reserveIds({ projectId: PROJECT_ID })],
    ['op', service.query({ ...query, filter: comparison('__key__', 'HAS_ANCESTOR', { keyValue: key('K', 'a') }) })],
    ['FAIL', service.commit([{ ...upsert(key('K', 'a')), baseVersion: 1 }])],
    ['read_only', service.client.beginTransaction({ projectId: PROJECT_ID, transactionOptions: { readOnly: {} } })],
    ['read_time', service.lookup([key('K', 'a')], { readOptions: { readTime: { seconds: 5 } } })],
    ['find_nearest', service.query({ ...query, findNearest: {} })],
    ['distinct_on', service.query({ ...query, distinctOn: [{ name: 'x' }] })],
    ['projection', service.query({ ...query, projection: [{ property: { name: 'x' } }] })],
    ['property.name', service.query({ ...query, filter: comparison('x', 'EQUAL', integer(1)) })],
    ['op', service.query({ ...query, filter: comparison('__key__', 'IN', { keyValue: key('K', 'a') }) })],
    ['property.name', service.query({ ...query, order: [ascending('x')] })],
    ['DESCENDING', service.query({ ...query, order: [descending('__key__')] })],
    ['kind: none', service.query({})],
    ['offset', service.query({ ...query, offset: 1 })],
    ['end_cursor', service.query({ ...query, endCursor: Buffer.from('K') })],
    ['newTransaction', service.query(query, { readOptions: { newTransaction: { readWrite: {} } } })],
    ['x.y', service.lookup([key('K', 'a')], { propertyMask: { paths: ['x.y'] } })],
    ['explain_options', service.query(query, { explainOptions: {} })],
    ['gql_query', service.client.runQuery({ projectId: PROJECT_ID, gqlQuery: { queryString: 'SELECT *' } })],
    ['__kind__', service.query({ kind: [{ name: '__kind__' }] })],
  ] as const)
    await expect(call).rejects.toMatchObject({
      code: CODE.unimplemented,
      details: expect.stringMatching(new RegExp(`${field}.*: this emulator .* --datastore google$`)),
    });
});

test.each([
  ['cut short', '8a0102', CODE.invalid, 'properties.x: is not a well-formed protobuf message'],
  ['with a text that its tag calls a number', '88010161', CODE.invalid, 'properties.x: the field 17'],
  ['with a flag that its tag calls bytes', '8a0101619a0100', CODE.invalid, 'properties.x: the field 19'],
  ['with a field that is not known', '8a010161f80701', CODE.unimplemented, 'the field 127'],
])('a value %s is refused', (_, hex, code, message) => {
  const property = { name: Buffer.from('x'), value: Buffer.from(hex, 'hex') };
  const expected = { code, message: expect.stringContaining(message) as string };
  expect(() => checkedProperty(property, { database: { projectId: PROJECT_ID, databaseId: '' }, depth: 0 })).toThrow(
    expect.objectContaining(expected),
  );
});

test('a port that is taken is an error that says so', async () => {
  const port = Number(emulator.address.split(':')[1]);
  await expect(startDatastoreEmulator({ port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
});

test('it answers from the moment that it says so, and nobody after its end', async () => {
  const another = await startDatastoreEmulator();
  const client = serviceAt(`http://${another.address}`);
  await client.commit([upsert(key('K', 'a'))]);
  await another.close();
  await expect(client.lookup([key('K', 'a')])).rejects.toThrow(/CANCELLED|UNAVAILABLE/);
  await client.close();
});
