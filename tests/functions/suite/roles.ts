// Routes, methods, roles and headers.
import { describe, expect, test } from 'vitest';
import { type Client, expectProblem, JSON_TYPE } from './client.ts';

export function describeRoles({ name, keys, send, as, admin, put, freshTable }: Client): void {
  describe(`${name}: routes and roles`, () => {
    test('an unknown route is a problem that names the routes there are', async () => {
      const { detail } = await expectProblem(await admin('/v2/tables'), 404, 'route_not_found');
      expect(detail).toContain('/v1/tables/{table}/batch');
      expect(detail).not.toContain('%2F');
      await expectProblem(await admin('/v1/tables/'), 404, 'route_not_found');
    });

    test('another method on a known path is a problem with Allow', async () => {
      const response = await admin('/v1/tables/t/records/k', { method: 'PATCH' });
      expect(response.headers.get('Allow')).toBe('GET, HEAD, PUT, DELETE');
      await expectProblem(response, 405, 'method_not_allowed');
      const posted = await admin('/v1/health', { method: 'POST', body: '{', headers: { 'Content-Type': JSON_TYPE } });
      await expectProblem(posted, 405, 'method_not_allowed');
    });

    test('health needs no key and says nothing about the data', async () => {
      const response = await send('/v1/health');
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: 'ok' });
    });

    test.each([undefined, '', 'Bearer', 'Basic YTpi', 'Bearer wrong-key-wrong-key', `Bearer ${'x'.repeat(5000)}`])(
      'without a valid key nobody gets in: %s',
      async (authorization) => {
        const response = await send('/v1/tables', {
          headers: authorization === undefined ? {} : { Authorization: authorization },
        });
        expect(response.headers.get('WWW-Authenticate')).toContain('Bearer');
        await expectProblem(response, 401, 'unauthenticated');
      },
    );

    test('both keys of a role are valid while they are being changed', async () => {
      expect((await as(keys.admin)('/v1/tables')).status).toBe(200);
      expect((await as(keys.adminNext)('/v1/tables')).status).toBe(200);
    });

    test('a reader reads, gets in a batch, and writes nothing', async () => {
      const table = await freshTable();
      const record = `${table}/records/k`;
      await put(record, JSON_TYPE, '1');
      const reader = as(keys.read);
      expect((await reader(record)).status).toBe(200);
      expect((await reader(`${table}/records`)).status).toBe(200);
      const post = (operations: unknown[]) =>
        reader(`${table}/batch`, {
          method: 'POST',
          headers: { 'Content-Type': JSON_TYPE },
          body: JSON.stringify({ operations }),
        });
      expect((await post([{ op: 'get', key: 'k' }])).status).toBe(200);
      await expectProblem(
        await post([
          { op: 'get', key: 'k' },
          { op: 'delete', key: 'k' },
        ]),
        403,
        'forbidden',
      );
      await expectProblem(await reader(record, { method: 'DELETE' }), 403, 'forbidden');
      await expectProblem(
        await reader(record, { method: 'PUT', headers: { 'Content-Type': JSON_TYPE }, body: '2' }),
        403,
        'forbidden',
      );
      expect(await (await reader(record)).text()).toBe('1');
    });

    test('a writer writes, and makes or drops no table', async () => {
      const table = await freshTable();
      const writer = as(keys.write);
      const written = await writer(`${table}/records/k`, {
        method: 'PUT',
        headers: { 'Content-Type': JSON_TYPE },
        body: '1',
      });
      expect(written.status).toBe(204);
      await expectProblem(await writer(table, { method: 'PUT' }), 403, 'forbidden');
      await expectProblem(await writer(table, { method: 'DELETE' }), 403, 'forbidden');
    });

    test('answers are for their one caller, and carry the id of the request', async () => {
      const response = await admin('/v1/tables', { headers: { 'X-Request-Id': 'request-0001' } });
      expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
      expect(response.headers.get('Vary')).toBe('Accept, Authorization');
      expect(response.headers.get('X-Request-Id')).toBe('request-0001');
    });

    test.each([undefined, 'short', 'with space'])('a request that brings the id %s is given one', async (id) => {
      const response = await admin('/v1/tables', { headers: id === undefined ? {} : { 'X-Request-Id': id } });
      expect(response.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/);
    });
  });
}
