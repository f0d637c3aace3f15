// Replies of both services, altered at random as a proxy or a fault might alter them: the driver's
// decoder ends with a value or with the error that it documents.
import { createRequire } from 'node:module';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { pageIn, etagsIn } from '../../shared/drivers/azure-tables/table-calls.ts';
import { RefusedRequestError } from '../../shared/drivers/azure-tables/azure-errors.ts';
import { checked, type Reply as AzureReply } from '../../shared/drivers/azure-tables/table-service.ts';
import { Reply, StatusError } from '../../shared/drivers/datastore/grpc/call.ts';
import {
  readCommitResponse,
  readLookupResponse,
  readRunQueryResponse,
} from '../../shared/drivers/datastore/messages/response-messages.ts';
import { StoreError } from '../../shared/store/index.ts';
import { altered, Tally } from '../support/altered.ts';
import { message, RESPONSE_HEADERS } from './datastore/servers.ts';

const COPIES = 3_000;

function expectDecoded(
  golden: Buffer,
  decode: (bytes: Buffer) => unknown,
  isStated: (error: unknown) => boolean,
): void {
  const tally = new Tally();
  for (const bytes of altered(golden, COPIES)) tally.try(() => decode(bytes), isStated);
  expect(tally.rarer).toBeGreaterThan(0);
}

const isNoMessage = (error: unknown): boolean =>
  (error as Error).message === 'the reply is no message of the Datastore API';

const root = protobuf.Root.fromJSON(
  createRequire(import.meta.url)('@google-cloud/datastore-api/build/protos/protos.json') as object,
);
const key = { partitionId: { projectId: 'p' }, path: [{ kind: 'Container', name: 'a' }] };
const entity = { key, properties: { h: { blobValue: Buffer.from('header') }, s: { stringValue: 'é' } } };
const found = { entity, version: '9007199254740993', cursor: Buffer.from('cursor') };

test.each([
  ['LookupResponse', { found: [found], missing: [{ entity: { key } }], deferred: [key] }, readLookupResponse],
  ['CommitResponse', { mutationResults: [{ version: '-1', conflictDetected: true }] }, readCommitResponse],
  ['RunQueryResponse', { batch: { entityResults: [found], moreResults: 3 } }, readRunQueryResponse],
] as const)('the driver decodes an altered %s of Datastore, or refuses it', (name, value, read) => {
  const type = root.lookupType(`google.datastore.v1.${name}`);
  const golden = Buffer.from(type.encode(type.fromObject(value)).finish());
  expectDecoded(golden, read, isNoMessage);
});

/** Takes a whole reply in pieces of seven bytes. */
function received(bytes: Buffer): void {
  const reply = new Reply();
  reply.headers(RESPONSE_HEADERS, false);
  for (let at = 0; at < bytes.length; at += 7) {
    const verdict = reply.data(bytes.subarray(at, at + 7));
    if (verdict instanceof StatusError) throw verdict;
  }
  const whole = reply.trailers({ 'grpc-status': '0' }) ?? reply.end(0, undefined);
  if (whole instanceof StatusError) throw whole;
}

test('the transport takes altered frames of a gRPC reply, or refuses them', () => {
  expectDecoded(message(Buffer.from('a message of some length')), received, (error) => error instanceof StatusError);
});

const TEXT = Buffer.from('whole');
const OK = { 'grpc-status': '0' };

/** A reply of which this much came. */
function cameSoFar(bytes: Buffer): Reply {
  const reply = new Reply();
  expect(reply.headers(RESPONSE_HEADERS, false)).toBeUndefined();
  expect(reply.data(bytes)).toBeUndefined();
  return reply;
}

test('a message and its status OK are the reply, whichever comes last', () => {
  expect(cameSoFar(message(TEXT)).trailers(OK)).toEqual(TEXT);
  const late = cameSoFar(message(TEXT).subarray(0, 7));
  expect(late.trailers(OK)).toBeUndefined();
  expect(late.data(message(TEXT).subarray(7))).toEqual(TEXT);
});

test.each([0, 2, 7, 8])('status OK proves nothing where the stream ends within the message (code %i)', (code) => {
  for (let size = 0; size < message(TEXT).length; size += 1) {
    const reply = cameSoFar(message(TEXT).subarray(0, size));
    expect(reply.trailers(OK)).toBeUndefined();
    expect(reply.end(code, undefined)).toMatchObject({ name: 'StatusError', isVerdict: false });
  }
});

const HEADERS = { 'x-ms-request-id': 'r', 'x-ms-version': '2019-02-02' };
const isRefusal = (error: unknown): boolean => error instanceof RefusedRequestError || error instanceof StoreError;
const replyOf = (body: Buffer, more: Partial<AzureReply> = {}): AzureReply => ({
  status: 200,
  headers: HEADERS,
  body,
  ...more,
});

test('the driver decodes an altered page of rows of Azure Tables, or refuses it', () => {
  const golden = Buffer.from('{"value":[{"RowKey":"a"},{"RowKey":"b"},{}]}');
  expectDecoded(golden, (body) => pageIn(replyOf(body)), isRefusal);
});

test.each([
  '{"value":{}}',
  '{"value":"a"}',
  '{"value":[null]}',
  '{"value":[{"RowKey":1}]}',
  '{"value":null}',
  '[]',
  '',
])('the driver refuses %s as a page of rows', (body) => {
  expect(() => pageIn(replyOf(Buffer.from(body)))).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

test('an altered error of Azure Tables is an error still', () => {
  const golden = Buffer.from(
    '{"odata.error":{"code":"EntityNotFound","message":{"lang":"en-US","value":"not there"}}}',
  );
  for (const body of altered(golden, COPIES))
    expect(() => checked(replyOf(body, { status: 404 }), { method: 'GET' })).toThrow(RefusedRequestError);
});

const MEMBER = [
  '--changes',
  'Content-Type: application/http',
  'Content-Transfer-Encoding: binary',
  '',
  'HTTP/1.1 204 No Content',
  'ETag: W/"1"',
  '',
  '',
];
const MULTIPART = [
  '--batch',
  'Content-Type: multipart/mixed; boundary=changes',
  '',
  ...MEMBER,
  ...MEMBER,
  '--changes--',
  '--batch--',
  '',
];

test('an altered reply to a transaction of Azure Tables gives all etags or none', () => {
  const golden = Buffer.from(MULTIPART.join('\r\n'));
  const headers = { ...HEADERS, 'content-type': 'multipart/mixed; boundary=batch' };
  expect(etagsIn(replyOf(golden, { headers }), 2)).toEqual(['W/"1"', 'W/"1"']);
  const decode = (body: Buffer): void => {
    const etags = etagsIn(replyOf(body, { headers }), 2);
    if (etags === undefined) throw new RefusedRequestError({ status: 202, isVerdict: false });
    expect(etags).toHaveLength(2);
  };
  expectDecoded(golden, decode, isRefusal);
});
