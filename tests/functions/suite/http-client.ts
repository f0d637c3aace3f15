// How the HTTP suite speaks: it knows a way to send requests and the app keys, nothing of what
// answers.
import { randomUUID } from 'node:crypto';
import { Packr } from 'msgpackr';
import { expect } from 'vitest';
import type { ProblemBody } from '../../../functions/http/problem.ts';

/**
 * Sends a request to `path` (raw, from the slash on) with what the platform's own gate asks for,
 * and no app key.
 */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

export interface Keys {
  readonly read: string;
  readonly write: string;
  readonly admin: string;
  /** Runs comparisons, and opens nothing else. */
  readonly compare: string;
}

export const packr = new Packr({ useRecords: false });
export const JSON_TYPE = 'application/json';
export const MSGPACK = 'application/vnd.msgpack';
export const BYTES = 'application/octet-stream';

/** Sends a body as the admin. */
type SendBody = (
  path: string,
  contentType: string,
  body: Uint8Array | string,
  headers?: Record<string, string>,
) => Promise<Response>;

/** The suite's view of one host. */
export type Client = ReturnType<typeof clientOf>;

/** `name` is for people, and the names of tests. */
export function clientOf(name: string, send: Send, keys: Keys) {
  const as =
    (key: string): Send =>
    (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('Authorization', `Bearer ${key}`);
      return send(path, { ...init, headers });
    };
  const admin = as(keys.admin);
  const sends =
    (method: string): SendBody =>
    (path, contentType, body, headers = {}) =>
      admin(path, {
        method,
        headers: { 'Content-Type': contentType, ...headers },
        body: body as string | Uint8Array<ArrayBuffer>,
      });
  const [put, post] = ['PUT', 'POST'].map(sends) as [SendBody, SendBody];
  /** The path of a new table of its own. */
  const freshTable = async (order: 'hash' | 'key' = 'hash'): Promise<string> => {
    const path = `/v1/tables/t${randomUUID().replaceAll('-', '')}`;
    expect((await put(path, JSON_TYPE, JSON.stringify({ order }))).status).toBe(201);
    return path;
  };
  let shared: Promise<string> | undefined;
  /** The path of a table that tests share: making one takes a host many requests. */
  const sharedTable = () => (shared ??= freshTable());
  const ways = { name, keys, send, as, admin, put, post, freshTable, sharedTable };
  return {
    ...ways,
    /** The path of a record of the shared table which is not there yet. */
    freshRecord: async () => `${await sharedTable()}/records/${randomUUID()}`,
    /** Drops the table of this path, confirmed. */
    drop: (path: string) => admin(`${path}?confirm=${path.split('/').at(-1)}`, { method: 'DELETE' }),
    /** The JSON that the admin gets from this path. */
    json: async <T>(path: string) => (await (await admin(path)).json()) as T,
    /** The outcomes of a JSON batch. */
    batch: async (table: string, operations: unknown[]) => {
      const response = await post(`${table}/batch`, JSON_TYPE, JSON.stringify({ operations }));
      expect(response.status).toBe(200);
      return ((await response.json()) as { outcomes: Record<string, unknown>[] }).outcomes;
    },
  };
}

/** Expects a problem of this status and code, and gives it. */
export async function expectProblem(response: Response, status: number, code: string): Promise<ProblemBody> {
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  const body = (await response.json()) as ProblemBody;
  expect({ status: response.status, code: body.code }).toEqual({ status, code });
  const instance = expect.stringMatching(/^urn:uuid:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/) as string;
  expect(body).toMatchObject({ status, type: `urn:stowage:${code}`, instance });
  return body;
}

/** Nested arrays, in JSON or MessagePack. */
export function nested(contentType: typeof JSON_TYPE | typeof MSGPACK, levels: number): Buffer {
  return contentType === JSON_TYPE
    ? Buffer.from('['.repeat(levels) + ']'.repeat(levels))
    : Buffer.concat([Buffer.alloc(levels - 1, 0x91), Buffer.from([0x90])]);
}

export async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

/** A table of records `k0000`, `k0001` and so on, whose values are their numbers. */
export async function filled({ freshTable, batch }: Client, order: 'hash' | 'key', count: number): Promise<string> {
  const table = await freshTable(order);
  const keys = Array.from({ length: count }, (_, at) => `k${String(at).padStart(4, '0')}`);
  await batch(
    table,
    keys.map((key, value) => ({ op: 'put', key, value })),
  );
  return table;
}

export interface Page {
  readonly records: { readonly value: number; readonly version: string }[];
  readonly cursor?: string;
}

/** The lines of a table's records as NDJSON. */
export async function linesOf({ admin }: Client, path: string): Promise<Record<string, unknown>[]> {
  const response = await admin(path, { headers: { Accept: 'application/x-ndjson, */*' } });
  expect(response.headers.get('Content-Type')).toBe('application/x-ndjson');
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A new record of the shared table, whose value is 1. */
export async function recordAt({ put, freshRecord }: Client): Promise<{ record: string; etag: string }> {
  const record = await freshRecord();
  return { record, etag: (await put(record, JSON_TYPE, '1')).headers.get('ETag')! };
}
