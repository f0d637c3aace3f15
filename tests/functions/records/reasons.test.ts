// A body that does not fit its schema is answered with the place, the expected type and the known
// members.
import { expect, test } from 'vitest';
import { expectProblem, JSON_TYPE } from '../suite/http-client.ts';
import { served } from './served.ts';

const { put: putTable, post } = served();

async function detailOf(response: Promise<Response>): Promise<string> {
  return (await expectProblem(await response, 400, 'invalid')).detail;
}

const batch = (body: unknown) => post('/v1/tables/t/batch', JSON_TYPE, JSON.stringify(body));

const get = { op: 'get', key: 'a' };
const put = { op: 'put', key: 'a', value: 1 };
const KNOWN = 'op, key, value, data, contentType, ifVersion, ifAbsent, ttlMs';

test.each<[operation: unknown, detail: string]>([
  [{ op: 'copy' }, "operations.0.op: Invalid discriminator value. Expected 'put' | 'get' | 'delete'"],
  [{ op: 'get' }, 'operations.0.key: Invalid input: expected string, received undefined'],
  [{ op: 'get', key: 'x'.repeat(1_025) }, 'operations.0.key: Too big: expected string to have <=1024 characters'],
  [{ ...get, x: 1, y: 2 }, 'operations.0: unknown member "x", "y"; known: op, key'],
  [{ ...get, ['x'.repeat(5_000)]: 1 }, `operations.0: unknown member "${'x'.repeat(40)}"; known: op, key`],
  [{ ...put, vlaue: 1 }, `operations.0: unknown member "vlaue"; known: ${KNOWN}`],
  [{ ...put, ttlMs: 1.5 }, 'operations.0.ttlMs: Invalid input: expected int, received number'],
  [{ op: 'put', key: 'a', data: 1 }, 'operations.0.data: data is bin in MessagePack, base64 text in JSON'],
])('the operation %j is refused with its reason', async (operation, detail) => {
  expect(await detailOf(batch({ operations: [operation] }))).toBe(detail);
});

test.each<[body: unknown, detail: string]>([
  [[], 'body: expected an object'],
  [{ operations: [] }, 'operations: Too small: expected array to have >=1 items'],
  [{ operations: [get], dry: true }, 'body: unknown member "dry"; known: operations, atomic'],
])('the batch %# is refused with its reason', async (body, detail) => {
  expect(await detailOf(batch(body))).toBe(detail);
});

test.each<[body: unknown, detail: string]>([
  [{ containers: 257 }, 'containers: Too big: expected number to be <=256'],
  [{ order: 'key', containers: 2 }, 'containers: a table of order "key" begins with one: leave it out'],
])('the options %j of a table are refused with their reason', async (body, detail) => {
  expect(await detailOf(putTable('/v1/tables/t', JSON_TYPE, JSON.stringify(body)))).toBe(detail);
});
