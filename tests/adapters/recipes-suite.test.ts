// The recipes for express-session and Next.js, driven by those packages themselves.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Express, Request } from 'express';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { listening } from '../support/listening.ts';
import { cook } from '../support/recipes.ts';

const tools = inject('tools');

/** A package of tests/tools. */
function tool(name: string): unknown {
  return createRequire(path.join(tools!, 'package.json'))(name);
}

/** The recipe's application, which counts visits and forgets them on request. */
async function visiting() {
  const { app, store } = await cook('express-session', { 'express-session': { default: tool('express-session') } });
  const express = app as Express;
  type Visited = Request & { session: { visits?: number; destroy(done?: (error?: unknown) => void): void } };
  express.get('/', (request, response) => {
    const { session } = request as Visited;
    session.visits = (session.visits ?? 0) + 1;
    response.send(String(session.visits));
  });
  express.get('/read', (request, response) => void response.send(String((request as Visited).session.visits)));
  express.get('/end', (request, response) => (request as Visited).session.destroy(() => response.send('ended')));
  const server = createServer(express);
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${await listening(server)}`;
  let cookie = '';
  const ask = async (at: string): Promise<string> => {
    const answer = await fetch(url + at, { headers: { cookie } });
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return await answer.text();
  };
  return { ask, sessions: await store.table<{ visits: number }>('sessions') };
}

describe.skipIf(tools === undefined)('express-session', () => {
  test('finds a session again by its cookie, and lets it end', async () => {
    const { ask, sessions } = await visiting();
    expect([await ask('/'), await ask('/'), await ask('/read')]).toEqual(['1', '2', '2']);
    expect(await sessions.count()).toBe(1);
    expect(await ask('/end')).toBe('ended');
    expect(await sessions.count()).toBe(0);
    expect(await ask('/')).toBe('1');
  });

  test('a session expires a day after its last use, as the table says', async () => {
    const { ask, sessions } = await visiting();
    const life = async (): Promise<number> => {
      for await (const { expiresAtMs } of sessions.scan()) return expiresAtMs! - Date.now();
      throw new Error('there is no session');
    };
    await ask('/');
    const [id] = await Array.fromAsync(sessions.keys());
    await sessions.touch(id!, { ttlMs: 3_600_000 });
    expect(await life()).toBeLessThanOrEqual(3_600_000);
    // A request that changes nothing touches it.
    await ask('/read');
    expect(await life()).toBeGreaterThan(3_600_000);
  });
});

interface IncrementalCache {
  get(key: string, context: object): Promise<{ value: unknown; isStale?: unknown } | null>;
  set(key: string, value: unknown, context: object): Promise<void>;
  revalidateTag(tags: string): Promise<void>;
}

test.skipIf(tools === undefined)('Next.js keeps pages and fetches in the table, and drops them by tag', async () => {
  const { app, store } = await cook('Next.js');
  const { IncrementalCache } = tool('next/dist/server/lib/incremental-cache') as {
    IncrementalCache: new (options: object) => IncrementalCache;
  };
  const instance = (): IncrementalCache =>
    new IncrementalCache({
      dev: false,
      requestHeaders: {},
      previewProps: {},
      prerenderManifest: { routes: {}, dynamicRoutes: {}, notFoundRoutes: [], preview: {} },
      CurCacheHandler: app,
    });
  const [one, other] = [instance(), instance()];
  const route = { kind: 'APP_PAGE', sourceRoute: '/page' };
  const page = {
    kind: 'APP_PAGE',
    html: '<p>Hello</p>',
    rscData: Buffer.from('rsc'),
    headers: { 'x-next-cache-tags': 'posts' },
    status: 200,
    segmentData: new Map([['/_tree', Buffer.from('tree')]]),
  };
  await one.set('/page', page, { cacheControl: { revalidate: 3_600, expire: undefined }, isFallback: false, route });
  const fetched = { kind: 'FETCH', data: { headers: {}, body: 'eA==', url: 'x', status: 200 }, revalidate: 3_600 };
  await one.set('f'.repeat(64), fetched, { fetchCache: true, tags: ['users'] });
  const asPage = { kind: 'APP_PAGE', isFallback: false, route };
  const asFetch = { kind: 'FETCH', tags: ['users'], softTags: [] };
  expect((await other.get('/page', asPage))?.value).toEqual(page);
  expect(await other.get('f'.repeat(64), asFetch)).toMatchObject({ isStale: false, value: { data: fetched.data } });
  await one.revalidateTag('posts');
  expect(await other.get('/page', asPage)).toBeNull();
  expect(await other.get('f'.repeat(64), asFetch)).not.toBeNull();
  await one.revalidateTag('users');
  expect(await other.get('f'.repeat(64), asFetch)).toBeNull();
  expect(await (await store.table('next-pages')).count()).toBe(2);
});
