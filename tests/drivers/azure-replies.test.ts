// How Azure's driver takes a reply, in one table for both transports. Unless the service itself
// says more, a read is unavailable, never absence, and a write unknown, never refused; the driver
// sends nothing again.
import { describe, expect, test } from 'vitest';
import { driverOn } from '../../shared/drivers/azure-tables/azure-driver.ts';
import type { RemoveOutcome, WriteOutcome } from '../../shared/store/contract/driver.ts';
import type { StoreError } from '../../shared/store/index.ts';
import { CALL } from '../../shared/drivers/conformance/check-calls.ts';
import { closedAfterEach } from '../support/opened.ts';
import {
  BATCH_TYPE,
  callsOver,
  errorText,
  ETAG,
  JSON_TYPE,
  member,
  multipart,
  odataError,
  twoWrites,
  azureText,
  rawServer,
  replyText,
  SERVICE_HEADERS,
} from './azure-service.ts';
import { TRANSPORTS } from './emulated.ts';
import { INSERT, PATCH, READ, REMOVALS, REPLACE } from './one-of-each.ts';

const opened = closedAfterEach();

const FULL = { ...ETAG, ...JSON_TYPE };
const ENTITY = '{"RowKey":"a","h":"AAAAAXg="}';
const ABSENT = { 'x-ms-error-code': 'ResourceNotFound' };
const MOVED = { ...ETAG, Location: '/elsewhere' };
const BOTH = multipart(member(204), member(204));
const CONFLICT = member(409, 'X: y\r\n', odataError('EntityAlreadyExists'));
const NEITHER = multipart(CONFLICT);
const { 'x-ms-request-id': id, 'x-ms-version': spoken } = SERVICE_HEADERS;

/** What an insert, a change, two writes in one request, and a read make of a reply. */
type Row = readonly [name: string, insert: string, change: string, several: string, read: string, reply: string];

const UNKNOWN = 'unknown other';
const CONDITION = 'refused condition';
const GONE = 'unavailable';
const FOR_GOOD = 'unavailable for good';

/** A reply of which nothing is believed. */
function nothing(name: string, reply: string, read = GONE): Row {
  return [name, UNKNOWN, UNKNOWN, UNKNOWN, read, reply];
}

/** An error of the service; several writes are refused by what concerns them all. */
function error(status: number, code: string, own: readonly [insert: string, change: string, read: string]): Row {
  const [ofInsert, ofChange, ofRead] = own;
  const ofSeveral = /denied|throttled|condition/.test(ofChange) ? ofChange : UNKNOWN;
  return [`${status} ${code}`, ofInsert, ofChange, ofSeveral, ofRead, errorText(status, code)];
}

function same(status: number, code: string, write: string, read: string): Row {
  return error(status, code, [write, write, read]);
}

/** A whole answer to two writes in one request. */
function together(name: string, body: string, several = UNKNOWN, type: Readonly<Record<string, string>> = BATCH_TYPE) {
  return [name, UNKNOWN, UNKNOWN, several, GONE, azureText(202, type, body)] as const;
}

const ROWS: readonly Row[] = [
  // What is believed.
  ['200 with an entity', UNKNOWN, UNKNOWN, UNKNOWN, 'found', azureText(200, FULL, ENTITY)],
  ['204 with an etag', 'written', 'written', UNKNOWN, GONE, azureText(204, ETAG)],
  together('202 with two members written', BOTH, 'written'),
  together('202 with one member refused', NEITHER, CONDITION),
  ['404 without a body, by its header', UNKNOWN, CONDITION, CONDITION, 'absent', azureText(404, ABSENT)],
  error(404, 'ResourceNotFound', [UNKNOWN, CONDITION, 'absent']),
  error(404, 'EntityNotFound', [UNKNOWN, CONDITION, 'absent']),
  error(409, 'EntityAlreadyExists', [CONDITION, CONDITION, GONE]),
  error(412, 'UpdateConditionNotSatisfied', [UNKNOWN, CONDITION, FOR_GOOD]),
  error(412, 'ConditionNotMet', [UNKNOWN, CONDITION, FOR_GOOD]),
  same(413, 'RequestBodyTooLarge', 'refused limit', FOR_GOOD),
  same(400, 'EntityTooLarge', 'refused limit', FOR_GOOD),
  same(400, 'PropertyValueTooLarge', 'refused limit', FOR_GOOD),
  same(400, 'TooManyProperties', 'refused limit', FOR_GOOD),
  same(400, 'InvalidInput', 'refused invalid', FOR_GOOD),
  same(400, 'InvalidAuthenticationInfo', 'refused denied', FOR_GOOD),
  same(401, 'InvalidAuthenticationInfo', 'refused denied', FOR_GOOD),
  same(403, 'AuthenticationFailed', 'refused denied', FOR_GOOD),
  same(403, 'AuthorizationFailure', 'refused denied', FOR_GOOD),
  same(503, 'ServerBusy', 'refused throttled', 'throttled'),
  // Errors that say nothing of a request's fate.
  same(503, 'TemporarilyOverloaded', 'unknown throttled', 'throttled'),
  same(409, 'TableBeingDeleted', UNKNOWN, GONE),
  same(404, 'ContainerNotFound', UNKNOWN, FOR_GOOD),
  same(408, 'OperationTimedOut', UNKNOWN, GONE),
  same(429, 'TooManyRequests', 'unknown throttled', 'throttled'),
  same(500, 'InternalError', UNKNOWN, GONE),
  same(502, 'BadGateway', UNKNOWN, GONE),
  same(504, 'GatewayTimeout', UNKNOWN, GONE),
  ...[408, 500, 502, 504].map((status) => nothing(`${status} without a body`, azureText(status, {}))),
  ...[429, 503].map((status): Row => {
    const write = 'unknown throttled';
    return [`${status} without a body`, write, write, write, 'throttled', azureText(status, {})];
  }),
  // The service itself denies without telling a version.
  ...[401, 403].map((status): Row => {
    const write = 'refused denied';
    return [`${status} without a version`, write, write, write, FOR_GOOD, replyText(status, { 'x-ms-request-id': id })];
  }),
  // Whatever a proxy or a captive portal says.
  nothing('a portal', replyText(200, { ...ETAG, 'Content-Type': 'text/html' }, '<p>Welcome')),
  nothing('a portal that knows no version', replyText(200, { ...ETAG, 'x-ms-request-id': id }, '<p>Welcome')),
  nothing('a portal that names no request', replyText(200, { ...ETAG, 'x-ms-version': spoken }, '<p>Welcome')),
  nothing('204 of a proxy', replyText(204, ETAG)),
  nothing('201 of a proxy', replyText(201, FULL, ENTITY)),
  nothing('200 of a proxy', replyText(200, FULL, ENTITY)),
  nothing('202 of a proxy', replyText(202, { ...ETAG, ...BATCH_TYPE }, BOTH)),
  ...(
    [
      [409, 'EntityAlreadyExists', GONE],
      [412, 'UpdateConditionNotSatisfied', FOR_GOOD],
      [404, 'ResourceNotFound', FOR_GOOD],
      [404, 'TableNotFound', FOR_GOOD],
      [413, 'RequestBodyTooLarge', FOR_GOOD],
      [400, 'InvalidInput', FOR_GOOD],
      [401, 'AuthenticationFailed', FOR_GOOD],
      [403, 'AuthorizationFailure', FOR_GOOD],
    ] as const
  ).map(([status, code, read]) =>
    nothing(`${status} ${code} of a proxy`, replyText(status, JSON_TYPE, odataError(code)), read),
  ),
  // Whatever is no success of such a call.
  ...[201, 203, 205, 206, 299].map((status) => nothing(`${status} of the service`, azureText(status, FULL, ENTITY))),
  ...[301, 302, 303, 307, 308].flatMap((status) => [
    nothing(`${status} of a proxy`, replyText(status, MOVED)),
    nothing(`${status} of the service`, azureText(status, MOVED)),
  ]),
  nothing('200 in html', azureText(200, { 'Content-Type': 'text/html', ...ETAG }, '<p>Welcome to the hotel')),
  nothing('200 with nothing', azureText(200, ETAG)),
  nothing('200 with broken JSON', azureText(200, FULL, '{"c":')),
  nothing('200 with a list', azureText(200, FULL, '[1]')),
  nothing('200 without an etag', azureText(200, JSON_TYPE, '{}')),
  nothing('200 with an empty etag', azureText(200, { ...JSON_TYPE, ETag: '' }, '{}')),
  nothing('204 without an etag', azureText(204, {})),
  nothing('204 with an empty etag', azureText(204, { ETag: '' })),
  nothing('404 in html', azureText(404, { 'Content-Type': 'text/html' }, '<p>Not found'), FOR_GOOD),
  // Answers to two writes in one request.
  ...[200, 201, 202, 302].flatMap((status) => [
    together(`202 with a second member of ${status}`, multipart(member(204), member(status))),
    together(`202 with a member of ${status} alone`, multipart(member(status))),
  ]),
  together('202 without a body', ''),
  together('202 without a boundary', BOTH, UNKNOWN, { 'Content-Type': 'multipart/mixed' }),
  together('202 with another boundary', BOTH, UNKNOWN, { 'Content-Type': 'multipart/mixed; boundary=other' }),
  together('202 with no multipart', '{}', UNKNOWN, JSON_TYPE),
  together('202 with one member too few', multipart(member(204))),
  together('202 with one member too many', multipart(member(204), member(204), member(204))),
  together('202 with no member', multipart()),
  together('202 with a member without an etag', multipart(member(204), member(204, 'X: y\r\n'))),
  together('202 with a member without a status', multipart(member(204), member(204).replace('HTTP/1.1', 'HTTP'))),
  together('202 with success and refusal', multipart(member(204), CONFLICT)),
  together('202 with two refusals', multipart(CONFLICT, CONFLICT)),
  together('202 with two change sets', BOTH.replace('--out--', BOTH)),
  together('202 without its last delimiter', BOTH.replace('--out--\r\n', '')),
  together("202 without its change set's delimiter", NEITHER.replace('--in--\r\n', '')),
  together('202 cut off as another member begins', NEITHER.replace('--in--', '--in')),
  together('202 cut off as another change set begins', BOTH.replace('--out--', '--out')),
  together('202 with lines of another end', BOTH.replaceAll('\r\n', '\n')),
  ...(
    [
      [500, 'InternalError', UNKNOWN],
      // One member's form or size says nothing about the others: sent alone, they are written.
      [400, 'InvalidInput', UNKNOWN],
      [400, 'EntityTooLarge', UNKNOWN],
      [413, 'RequestBodyTooLarge', UNKNOWN],
      [403, 'AuthorizationFailure', 'refused denied'],
      [503, 'ServerBusy', 'refused throttled'],
    ] as const
  ).map(([status, code, several]) =>
    together(
      `202 with a member of ${status} ${code}`,
      multipart(member(status, 'X: y\r\n', odataError(code))),
      several,
    ),
  ),
];

/** What a listing makes of a reply that answers a read. */
const OF_LIST: Readonly<Record<string, string>> = { found: GONE, absent: FOR_GOOD };

function told(outcomes: readonly (WriteOutcome | RemoveOutcome)[]): string {
  const texts = outcomes.map((outcome) =>
    'reason' in outcome ? `${outcome.kind} ${outcome.reason}` : outcome.kind.replace('removed', 'written'),
  );
  return [...new Set(texts)].join(', ');
}

async function ofRead(read: Promise<readonly unknown[]>): Promise<string> {
  try {
    return (await read)[0] === undefined ? 'absent' : 'found';
  } catch (thrown) {
    const { code, retryable } = thrown as StoreError;
    return retryable ? code : `${code} for good`;
  }
}

describe.each(TRANSPORTS)('over the transport %s', (transport) => {
  test.each(ROWS)(
    'after %s an insert is %s, a change %s, two writes together %s and a read %s, and each was sent once',
    async (_, ...expected) => {
      const reply = expected[4];
      const server = opened(await rawServer(({ socket }) => socket.write(reply)));
      // It trusts its endpoint, as the service's own: it probes nothing before it sends.
      const driver = opened(driverOn(callsOver(transport, server.port), false));
      const seen = [told(await driver.write([INSERT], CALL)), told(await driver.write([PATCH], CALL))];
      expect(told(await driver.write([REPLACE], CALL))).toBe(seen[1]);
      const removed = told(await driver.remove(REMOVALS, CALL));
      seen.push(told(await driver.write(twoWrites(driver), CALL)), await ofRead(driver.read(READ, CALL)));
      expect([...seen, reply]).toEqual(expected);
      // The service answers a removal without an etag.
      expect(removed).toBe(/^HTTP\/1\.1 204[^]*x-ms-version/.test(reply) ? 'written' : expected[1]);
      const listed = await ofRead(driver.list('a', undefined, 1, CALL).then(({ ids }) => ids));
      expect(listed).toBe(OF_LIST[expected[3]] ?? expected[3]);
      expect(server.requests).toHaveLength(7);
    },
  );
});
