// Every route of every function, asked with every kind of key. The least roles are those of
// functions/README.md, whose table has each route.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { App } from '../../functions/http/http-app.ts';
import { createGate, type Role, ROLES } from '../../functions/http/auth.ts';
import type { LogLine } from '../../functions/http/log.ts';
import { shownPath } from '../../functions/http/route.ts';
import { functionConfig } from '../../functions/instance/config.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore } from '../../shared/store/index.ts';
import { decodeCursor, encodeCursor } from '../../shared/store/table/bounds.ts';
import { appsOn } from './apps.ts';
import { expectProblem } from './suite/http-client.ts';

const KEY = { read: 'r', write: 'w', admin: 'a', compare: 'c', own: 'o', other: 'e', exact: 'x', late: 'l' };
const keyOf = (name: keyof typeof KEY): string => KEY[name].repeat(20);
const config = functionConfig({
  STOWAGE_READ_KEYS: keyOf('read'),
  STOWAGE_WRITE_KEYS: keyOf('write'),
  STOWAGE_ADMIN_KEYS: [
    keyOf('admin'),
    `own(tables=orders-*)=${keyOf('own')}`,
    `other(tables=users-*;until=2999-12-31)=${keyOf('other')}`,
    `exact(tables=orders)=${keyOf('exact')}`,
    `late(until=2020-02-29)=${keyOf('late')}`,
  ].join(','),
  STOWAGE_COMPARE_KEYS: keyOf('compare'),
});

const store = openStore({ driver: memoryDriver() });
const lines: LogLine[] = [];
const apps = appsOn({ ...config, log: (line: LogLine) => void lines.push(line) }, store);

type Least = Role | 'none';

const readme = readFileSync(new URL('../../functions/README.md', import.meta.url), 'utf8');
/** The least role of each route. */
const LEAST = Object.fromEntries(
  [...readme.matchAll(/^\| `([A-Z]+ \S+)` +\| (\w+) /gm)].map(([, route, least]) => [route, least]),
) as Readonly<Record<string, Least>>;

const FULFILS: Readonly<Record<Least, readonly Role[]>> = {
  none: ['read', 'write', 'admin', 'compare'],
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
  admin: ['admin'],
  compare: ['compare'],
};

interface Found {
  readonly app: App;
  readonly method: string;
  readonly path: string;
}

function send(app: App, method: string, path: string, key?: string): Promise<Response> {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const target = path
    .replace('{table}', 'orders-1')
    .replace(/\{\w+\}/, 'k')
    .replace(/vacuum$/, '$&?quietMs=0');
  return app.fetch(new Request(`http://localhost${target}`, { method, headers }));
}

const found = Object.values(apps).flatMap((app) =>
  app.routes.flatMap((route): Found[] => {
    const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
    return methods.map((method) => ({ app, method, path: shownPath(route) }));
  }),
);
const leastOf = ({ method, path }: Found): Least =>
  LEAST[`${method.replace('HEAD', 'GET')} ${path.replace(/\/record$/, '/records/{key}')}`]!;

beforeAll(async () => {
  for (const name of ['orders', 'orders-1', 'users-1']) {
    const table = await store.table(name, { order: 'key' });
    for (const key of ['a', 'b', 'z']) await table.put(`${name}/${key}`, 1);
  }
});

/** Everybody who may ask, by the key; `own` opens the tables that are asked for, `other` others. */
const CALLERS: Readonly<Record<string, string | undefined>> = {
  nobody: undefined,
  'a wrong key': 'nobodys-key-00000000',
  'a key with its limits': `own(tables=orders-*)=${keyOf('own')}`,
  'an expired key': keyOf('late'),
  read: keyOf('read'),
  write: keyOf('write'),
  admin: keyOf('admin'),
  compare: keyOf('compare'),
  own: keyOf('own'),
  other: keyOf('other'),
  exact: keyOf('exact'),
};

/** 401, 403, or 200 for whatever comes behind the gate. */
function expectedOf(route: Found): Record<string, number> {
  const least = leastOf(route);
  const isOpen = least === 'none';
  const strangers = isOpen ? 200 : 401;
  const isOfTables = isOpen || route.path.startsWith('/v1/tables');
  const isListing = isOpen || route.path === '/v1/tables';
  return {
    nobody: strangers,
    'a wrong key': strangers,
    'a key with its limits': strangers,
    'an expired key': strangers,
    ...Object.fromEntries(ROLES.map((role) => [role, FULFILS[least].includes(role) ? 200 : 403])),
    own: isOfTables ? 200 : 403,
    other: isListing ? 200 : 403,
    exact: isListing ? 200 : 403,
  };
}

test.each(found)('$method $path lets in those whose key allows it', async (route) => {
  const seen = Object.entries(CALLERS).map(async ([who, key]) => {
    const { status } = await send(route.app, route.method, route.path, key);
    return [who, status === 401 || status === 403 ? status : 200] as const;
  });
  expect(Object.fromEntries(await Promise.all(seen))).toEqual(expectedOf(route));
});

const { records } = apps;

test('a key of some tables is shown those alone, and told so of others, there or not', async () => {
  const listed = (await (await send(records, 'GET', '/v1/tables', keyOf('own'))).json()) as { tables: object[] };
  expect(listed).toMatchObject({ tables: [{ name: 'orders-1' }] });
  for (const table of ['users-1', 'nowhere', 'orders', 'Orders-1', '%6frders']) {
    const response = await send(records, 'GET', `/v1/tables/${table}/records`, keyOf('own'));
    const { detail } = await expectProblem(response, 403, 'forbidden');
    expect(detail).toBe('this key opens orders-* alone');
  }
  expect((await send(records, 'GET', '/v1/tables/%6frders-1/records', keyOf('own'))).status).toBe(200);
  await expectProblem(await send(records, 'GET', '/v1/tables/%ff/records', keyOf('own')), 400, 'malformed');
});

test('a key is valid to the end of its last day, then refused as expired to its holder alone', async () => {
  const text = `app(until=2027-01-31)=${keyOf('read')}`;
  const auth = { mode: 'keys', keys: { read: [text], write: [], admin: [], compare: [] } } as const;
  const at = (iso: string, key: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    return createGate(auth, () => Date.parse(iso))(new Request('http://localhost/', { headers }));
  };
  expect(() => at('2027-01-31T23:59:59.999Z', keyOf('read')).authorize('read')).not.toThrow();
  const late = at('2027-02-01T00:00:00Z', keyOf('read'));
  expect(late.caller).toEqual({ role: 'read', key: 'app' });
  expect(() => late.authorize('read')).toThrow('has expired');
  expect(() => at('2027-02-01T00:00:00Z', keyOf('write')).authorize('read')).toThrow('not one of the configured');
});

// Why cursors need no signature: rights are checked by the table in the path, and a cursor, whoever
// made it, only says where in that table a scan goes on.
test('a cursor opens no other table, as it was given or rewritten', async () => {
  const scan = async (table: string, query: string, key = keyOf('admin')) =>
    send(records, 'GET', `/v1/tables/${table}/records?${query}`, key);
  const cursorOf = async (table: string): Promise<string> =>
    ((await (await scan(table, 'limit=1')).json()) as { cursor: string }).cursor;
  const [own, foreign] = [await cursorOf('orders-1'), await cursorOf('users-1')];
  await expectProblem(await scan('users-1', `cursor=${foreign}`, keyOf('own')), 403, 'forbidden');
  await expectProblem(await scan('orders-1', `cursor=${foreign}`, keyOf('own')), 400, 'invalid');
  const rewritten = own.slice(0, -1) + (own.endsWith('A') ? 'Q' : 'A');
  await expectProblem(await scan('orders-1', `cursor=${rewritten}`, keyOf('own')), 400, 'invalid');
  const state = decodeCursor(foreign, 'users-1');
  const signed = await scan('orders-1', `cursor=${encodeCursor(state, 'orders-1')}`, keyOf('own'));
  await expectProblem(signed, 409, 'conflict');
  const { incarnation } = decodeCursor(own, 'orders-1');
  const begun = { ...state, incarnation, from: Buffer.alloc(0) };
  const response = await scan('orders-1', `cursor=${encodeCursor(begun, 'orders-1')}`, keyOf('own'));
  const { records: shown } = (await response.json()) as { records: { key: string }[] };
  expect(shown.map(({ key }) => key)).toEqual(['orders-1/a', 'orders-1/b', 'orders-1/z']);
});

test('what admins do, or try, is told by an action, a table, a key and an outcome', async () => {
  lines.length = 0;
  const path = '/v1/tables/orders-2';
  await send(records, 'PUT', path, keyOf('own'));
  await send(records, 'DELETE', path, keyOf('own'));
  await send(records, 'DELETE', `${path}?confirm=orders-2`, keyOf('other'));
  await send(records, 'DELETE', `${path}?confirm=orders-2`);
  await send(records, 'DELETE', `${path}?confirm=orders-2`, keyOf('own'));
  await send(records, 'GET', '/v1/tables', keyOf('own'));
  await send(apps.vacuum, 'POST', '/v1/vacuum?quietMs=0', keyOf('own'));
  expect(lines.map(({ audit, table, key, code }) => [audit, table, key, code])).toEqual([
    ['create', 'orders-2', 'own', undefined],
    ['drop', 'orders-2', 'own', 'invalid'],
    ['drop', 'orders-2', 'other', 'forbidden'],
    ['drop', 'orders-2', undefined, 'unauthenticated'],
    ['drop', 'orders-2', 'own', undefined],
    [undefined, undefined, 'own', undefined],
    ['vacuum', undefined, 'own', 'forbidden'],
  ]);
});
