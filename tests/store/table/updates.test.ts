// Updates that delete or change nothing, touches, and expiries that a handle gives by itself.
import assert from 'node:assert';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { DELETE } from '../../../shared/store/index.ts';
import { newStore } from '../../support/opened.ts';
import { World } from '../rules/world.ts';

/** A table in virtual time, with the clock that moves it. */
async function timed(ttlMs?: number) {
  const world = new World();
  const table = await world.run(world.process().store.table<string>('t', ttlMs === undefined ? {} : { ttlMs }));
  const nowMs = world.runtime.wallMs();
  return { world, table, nowMs };
}

function countDown(current: { readonly value: number } | undefined) {
  return current === undefined || current.value === 1 ? DELETE : current.value - 1;
}

test('an update that gives DELETE deletes the record, and of none makes none', async () => {
  const table = await newStore().table<number>('things');
  await table.put('k', 2);
  expect((await table.update('k', countDown))?.value).toBe(1);
  expect(await table.update('k', countDown)).toBeUndefined();
  expect(await table.get('k')).toBeUndefined();
  const { commits } = table.stats();
  expect(await table.update('k', countDown)).toBeUndefined();
  expect(table.stats().commits).toBe(commits);
});

test('an update to what is stored commits nothing and gives the present version', async () => {
  const table = await newStore().table('things');
  const { version } = await table.put('k', { a: [1, new Set(['x'])] });
  const { commits } = table.stats();
  const same = await table.update('k', (current) => structuredClone(current?.value));
  expect(same).toMatchObject({ version, value: { a: [1, new Set(['x'])] } });
  expect(table.stats().commits).toBe(commits);
  const other = await table.update('k', () => ({ a: [1, ['x']] }));
  expect(other?.version).not.toBe(version);
});

test('an update to the same value under another codec, or with another expiry, is written', async () => {
  const store = newStore();
  const { version } = await (await store.table<number>('things')).put('k', 1);
  const texts = await store.table<number>('things', { codec: 'json' });
  const again = await texts.update('k', () => 1);
  expect(again?.version).not.toBe(version);
  const expiring = await texts.update('k', () => 1, { ttlMs: 60_000 });
  expect(expiring?.version).not.toBe(again?.version);
  expect(expiring?.expiresAtMs).toBeGreaterThan(0);
});

test('updateMany gives an outcome for each key, and what one function throws fails its key alone', async () => {
  const table = await newStore().table<number>('things');
  await table.putMany([1, 2, 3, 4].map((value) => ({ key: `k${value}`, value })));
  const failure = new TypeError('mine');
  const outcomes = await table.updateMany([
    { key: 'k1', change: (current) => current!.value + 10 },
    { key: 'k2', change: () => undefined },
    { key: 'k3', change: () => DELETE },
    { key: 'k4', change: () => Promise.reject(failure) as unknown as number },
    { key: 'k5', change: () => DELETE },
    { key: 'k6', change: () => assert.fail(failure) },
    { key: '', change: () => 1 },
    { key: 'k7', change: () => runInNewContext('Promise.reject(new Error("of another realm"))') as number },
    { key: 'k1', change: (current) => current!.value + 10, ttlMs: 60_000 },
  ]);
  const statuses = 'written unchanged deleted failed absent failed failed failed written';
  expect(outcomes.map(({ status }) => status).join(' ')).toBe(statuses);
  expect(outcomes[0]).toMatchObject({ key: 'k1', value: 11, expiresAtMs: undefined });
  expect(outcomes[1]).toMatchObject({ key: 'k2', value: 2 });
  expect(outcomes[5]).toMatchObject({ key: 'k6', error: { code: 'invalid', key: 'k6', cause: failure } });
  const isAsynchronous = { error: { message: expect.stringContaining('must not be asynchronous') as string } };
  expect([outcomes[3], outcomes[7]]).toMatchObject([isAsynchronous, isAsynchronous]);
  expect(await table.get('k1')).toMatchObject({ value: 21, expiresAtMs: expect.any(Number) as number });
  expect(await table.count()).toBe(3);
});

test('touch moves the expiry, keeps the value, and tells whether there was a record', async () => {
  const { world, table, nowMs } = await timed();
  await world.run(table.put('k', 'v', { ttlMs: 1_000 }));
  expect(await world.run(table.touch('k', { expiresAtMs: nowMs + 50_000 }))).toBe(true);
  expect(await world.run(table.get('k'))).toMatchObject({ value: 'v', expiresAtMs: nowMs + 50_000 });
  expect(await world.run(table.touch('none', { ttlMs: 1_000 }))).toBe(false);
  expect(await world.run(table.has('none'))).toBe(false);
  world.runtime.jumpWall(50_000);
  expect(await world.run(table.touch('k', { ttlMs: 1_000 }))).toBe(false);
});

test('touch keeps a value that its handle could not read, and a touch to the same moment writes nothing', async () => {
  const store = newStore();
  const packed = await store.table('things');
  await packed.put('k', new Set([1]));
  const bytes = await store.table('things', { codec: 'bytes' });
  expect(await bytes.touch('k', { expiresAtMs: 8e15 })).toBe(true);
  const { commits } = bytes.stats();
  expect(await bytes.touch('k', { expiresAtMs: 8e15 })).toBe(true);
  expect(bytes.stats().commits).toBe(commits);
  expect(await packed.get('k')).toMatchObject({ value: new Set([1]), expiresAtMs: 8e15 });
});

test('touch without an expiry is refused, as are two, unless the handle has one', async () => {
  const { world, table } = await timed();
  await expect(world.run(table.touch('k'))).rejects.toMatchObject({ code: 'invalid', key: 'k' });
  await expect(world.run(table.touch('k', { ttlMs: 1, expiresAtMs: 1 }))).rejects.toMatchObject({ code: 'invalid' });
  const { world: other, table: timely, nowMs } = await timed(5_000);
  await other.run(timely.put('k', 'v', { ttlMs: 1_000 }));
  await other.run(timely.touch('k'));
  expect((await other.run(timely.get('k')))?.expiresAtMs).toBe(nowMs + 5_000);
});

test('a handle with ttlMs gives it to what puts and updates create, unless they say otherwise', async () => {
  const { world, table, nowMs } = await timed(5_000);
  await world.run(table.put('put', 'v'));
  await world.run(table.put('own', 'v', { ttlMs: 1_000 }));
  await world.run(table.put('at', 'v', { expiresAtMs: nowMs + 7_000 }));
  await world.run(table.put('past', 'v', { expiresAtMs: 5 }));
  expect(await world.run(table.get('past'))).toBeUndefined();
  await world.run(table.putMany([{ key: 'many', value: 'v' }]));
  await world.run(table.update('made', () => 'v'));
  await world.run(table.update('own', () => 'w'));
  await world.run(table.update('at', () => 'w', { ttlMs: 9_000 }));
  const keys = ['put', 'own', 'at', 'many', 'made'];
  const found = await world.run(table.getMany(keys));
  const lives = found.map((outcome) => outcome.status === 'found' && outcome.expiresAtMs! - nowMs);
  expect(lives).toEqual([5_000, 1_000, 9_000, 5_000, 5_000]);
});

test('the ttlMs of a handle is its own, and a senseless one creates no table', async () => {
  const store = newStore();
  await expect(store.table('things', { ttlMs: 0 })).rejects.toMatchObject({ code: 'invalid', table: 'things' });
  expect(await store.tables()).toEqual([]);
  await (await store.table('things', { ttlMs: 60_000 })).put('a', 1);
  const lasting = await store.table('things');
  await lasting.put('b', 1);
  expect((await lasting.get('a'))?.expiresAtMs).toBeGreaterThan(0);
  expect((await lasting.get('b'))?.expiresAtMs).toBeUndefined();
});
