// Pages and streams.
import { describe, expect, test } from 'vitest';
import { BYTES, type Client, expectProblem, JSON_TYPE, MSGPACK } from './client.ts';

/** A table of records `k0000`, `k0001` and so on, whose values are their numbers. */
async function filled({ freshTable, batch }: Client, order: 'hash' | 'key', count: number): Promise<string> {
  const table = await freshTable(order);
  const operations = Array.from({ length: count }, (_, i) => ({
    op: 'put',
    key: `k${String(i).padStart(4, '0')}`,
    value: i,
  }));
  await batch(table, operations);
  return table;
}

export function describeScans(client: Client): void {
  const { name, admin, put, freshTable, batch } = client;
  describe(`${name}: scans`, () => {
    test('pages through a table, each record once', async () => {
      const table = await filled(client, 'hash', 25);
      const seen: unknown[] = [];
      let cursor: string | undefined;
      do {
        const suffix = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page = (await (await admin(`${table}/records?limit=10${suffix}`)).json()) as {
          records: { value: number; version: string }[];
          cursor?: string;
        };
        expect(page.records.length).toBeLessThanOrEqual(10);
        expect(page.records.every((record) => typeof record.version === 'string')).toBe(true);
        seen.push(...page.records.map((record) => record.value));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 25 }, (_, i) => i));
    });

    test('bounds a table of order key by prefix and by range', async () => {
      const table = await filled(client, 'key', 25);
      const values = async (query: string) => {
        const page = (await (await admin(`${table}/records?${query}`)).json()) as { records: { value: number }[] };
        return page.records.map((record) => record.value);
      };
      expect(await values('prefix=k002')).toEqual([20, 21, 22, 23, 24]);
      expect(await values('from=k0003&to=k0006')).toEqual([3, 4, 5]);
    });

    test('goes backwards, from exclusive bounds on, and counts what it would give', async () => {
      const table = await filled(client, 'key', 25);
      const query = 'after=k0003&through=k0006';
      const answer = await admin(`${table}/records?reverse=true&${query}`);
      const { records } = (await answer.json()) as { records: { value: number }[] };
      expect(records.map(({ value }) => value)).toEqual([6, 5, 4]);
      expect(await (await admin(`${table}/count?${query}`)).json()).toEqual({ count: 3 });
      expect(await (await admin(`${table}/count`)).json()).toEqual({ count: 25 });
    });

    test('a page links to the next one with all that was asked for', async () => {
      const table = await filled(client, 'key', 25);
      const seen: number[] = [];
      let path: string | undefined = `${table}/records?prefix=k00&limit=10`;
      while (path !== undefined) {
        const response: Response = await admin(path);
        const { records } = (await response.json()) as { records: { value: number }[] };
        seen.push(...records.map(({ value }) => value));
        const link: string | null = response.headers.get('Link');
        path = link === null ? undefined : /^<(\/v1\/[^>]+)>; rel="next"$/.exec(link)![1]!;
      }
      expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => i));
    });

    test('a cursor takes the bounds of its scan, and no others', async () => {
      const table = await filled(client, 'key', 25);
      const page = (await (await admin(`${table}/records?prefix=k&limit=10`)).json()) as { cursor: string };
      const cursor = `cursor=${encodeURIComponent(page.cursor)}`;
      expect((await admin(`${table}/records?prefix=k&${cursor}`)).status).toBe(200);
      for (const others of ['prefix=k0', 'prefix=l', 'from=k', 'to=l0', 'from=k0020&to=l']) {
        await expectProblem(await admin(`${table}/records?${others}&${cursor}`), 400, 'invalid');
      }
    });

    test('a cursor of another table is refused, and says so', async () => {
      const [one, other] = [await filled(client, 'key', 3), await filled(client, 'key', 3)];
      const { cursor } = (await (await admin(`${one}/records?limit=1`)).json()) as { cursor: string };
      const problem = await expectProblem(await admin(`${other}/records?cursor=${cursor}`), 400, 'invalid');
      expect(problem.detail).toContain('not given by a scan of this table');
    });

    test('gives values as they were sent, and as their bytes where JSON cannot carry them', async () => {
      const table = await freshTable('key');
      const long = '{ "n": [12345678901234567890, 1e400, 1.0], "s": "\\ud800" }';
      await put(`${table}/records/a`, JSON_TYPE, long);
      await put(`${table}/records/b`, MSGPACK, Buffer.from('cb3ff0000000000000', 'hex'));
      await put(`${table}/records/c`, MSGPACK, Buffer.from('81c4016b01', 'hex'));
      const text = await (await admin(`${table}/records`)).text();
      expect(text).toContain(`"contentType":"application/json","value":${long}}`);
      expect(text).toContain('"contentType":"application/vnd.msgpack","value":1.0}');
      const { records } = JSON.parse(text) as { records: Record<string, unknown>[] };
      expect(records[2]).toMatchObject({ key: 'c', contentType: MSGPACK, data: 'gcQBawE=' });
    });

    test('streams NDJSON, one record a line, and says how it ended', async () => {
      const table = await filled(client, 'key', 25);
      await put(`${table}/records/pretty`, JSON_TYPE, '{\n  "a": 1\r\n}');
      await put(`${table}/records/raw`, BYTES, Buffer.from([1, 2, 3]));
      const response = await admin(`${table}/records`, { headers: { Accept: 'application/x-ndjson, */*' } });
      expect(response.headers.get('Content-Type')).toBe('application/x-ndjson');
      const lines = (await response.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines).toHaveLength(28);
      expect(lines[0]).toMatchObject({ key: 'k0000', value: 0, contentType: JSON_TYPE });
      expect(lines[25]).toMatchObject({ key: 'pretty', value: { a: 1 } });
      expect(lines[26]).toMatchObject({ key: 'raw', data: 'AQID', contentType: BYTES });
      expect(lines[27]).toEqual({ end: true });
    });

    test('a large table comes whole: in pages bounded by bytes, and in one stream of many chunks', async () => {
      const table = await freshTable();
      const value = Buffer.alloc(400_000, 'stowage ').toString('base64');
      const puts = Array.from({ length: 12 }, (_, i) => ({ op: 'put', key: `k${i}`, data: value, contentType: BYTES }));
      const outcomes = await batch(table, puts);
      expect(new Set(outcomes.map((outcome) => outcome['status']))).toEqual(new Set(['written']));
      const page = (await (await admin(`${table}/records`)).json()) as { records: unknown[]; cursor: string };
      expect(page.records.length).toBeGreaterThan(0);
      expect(page.records.length).toBeLessThan(12);
      const next = (await (
        await admin(`${table}/records?cursor=${encodeURIComponent(page.cursor)}`)
      ).json()) as typeof page;
      expect(page.records.length + next.records.length).toBe(12);
      const response = await admin(`${table}/records`, { headers: { Accept: 'application/x-ndjson' } });
      expect((await response.text()).trimEnd().split('\n')).toHaveLength(13);
    });

    test('a stream with a limit ends with a cursor', async () => {
      const table = await filled(client, 'hash', 5);
      const response = await admin(`${table}/records?limit=2`, { headers: { Accept: 'application/x-ndjson' } });
      const lines = (await response.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines).toHaveLength(3);
      expect(lines[2]).toEqual({ end: true, cursor: expect.any(String) });
    });

    test.each([
      'limit=0',
      'limit=1001',
      'limit=x',
      'lmit=1',
      'limit=1&limit=2',
      'prefix=a',
      'reverse=1',
      'cursor=nonsense',
    ])('the query %s on a table of order hash is invalid', async (query) => {
      await expectProblem(await admin(`${await filled(client, 'hash', 1)}/records?${query}`), 400, 'invalid');
    });

    test('a bad escape in the query is malformed', async () => {
      await expectProblem(await admin(`${await freshTable('key')}/records?prefix=%zz`), 400, 'malformed');
    });
  });
}
