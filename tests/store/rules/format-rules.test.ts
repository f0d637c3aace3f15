// Rules 23 to 25: chunks, the order of keys, and what drivers leave behind.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { faultsOf } from './tree-of.ts';
import { begun, keysBy, opened } from './table-steps.ts';
import { isWriteOf, key, text, TINY, World } from './world.ts';
import { entityId, entityVersion } from '../../support/ids.ts';

const LONE = '\ud800';

test('rule 23: pages that grow and shrink never leave chunks behind, nor take more than the entity may', async () => {
  // The memory driver refuses a chunk left behind, and counts dead chunks as the provider does.
  const limits = { ...TINY, chunkBytes: 2_600, entityBytesMax: 60_000, chunksMax: 40 };
  const { world, table } = await opened({ order: 'key' }, new World({ limits }));
  const draw = seededRandom(23);
  let refused = 0;
  for (let count = 0; count < 500; count += 1) {
    const name = key(Math.floor(draw() * 25));
    const work = draw() < 0.25 ? table.delete(name) : table.put(name, text(count, Math.floor(draw() ** 3 * 12_000)));
    await world.run<unknown>(work).catch(() => (refused += 1));
  }
  expect(refused).toBe(0);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 24: keys stand in the order of their bytes, not of their UTF-16 units', async () => {
  const { world, table } = await begun();
  const names = ['\u{10000}', '\uffff', 'é', 'e', 'z', '\u007f'];
  for (const name of names) await world.run(table.put(name, name));
  const found = await keysBy(world, table);
  expect(found).toEqual(names.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y))));
  expect(found).not.toEqual(names.toSorted());
  expect(await keysBy(world, table, { from: '\uffff' })).toEqual(['\uffff', '\u{10000}']);
});

test('rule 24: lone surrogates are refused by put and scan before anything is sent', async () => {
  const { world, a: process, table } = await begun();
  process.takeCalls();
  await expect(world.run(table.put(LONE, 'v'))).rejects.toMatchObject({ code: 'invalid' });
  for (const bounds of [{ prefix: LONE }, { from: LONE }, { to: LONE }])
    expect(() => table.scan(bounds)).toThrow('lone surrogate');
  expect(process.calls).toEqual([]);
});

test('rule 24: an empty bound is the beginning of all keys, never their end', async () => {
  const { world, table } = await begun();
  for (const name of ['a', 'b']) await world.run(table.put(name, name));
  expect(await keysBy(world, table, { to: '' })).toEqual([]);
  expect(await keysBy(world, table, { from: '' })).toEqual(['a', 'b']);
  expect(await keysBy(world, table, { prefix: '' })).toEqual(['a', 'b']);
  expect(await keysBy(world, table, { from: 'b', to: 'a' })).toEqual([]);
});

test('rule 25: a vacuum removes what probes left, and nothing takes a probe for a table or a container', async () => {
  const { world, store } = await opened();
  for (let number = 0; number < 12; number += 1)
    world.state.entities.set(entityId(`p~${number}`), {
      version: entityVersion(`p${number}`),
      parts: new Map(),
      chunksPeak: new Map(),
    });
  expect((await world.run(store.tables())).map(({ name }) => name)).toEqual(['t']);
  expect(await world.run(store.vacuum('t'))).toMatchObject({ listed: 0, left: 0 });
  expect([...world.state.entities.keys()]).toEqual(['t!t!']);
});

test('a repair ends with its store, even if that is closed while the provider is away', async () => {
  const { world, a: process, table } = await begun(40);
  process.rule((call) => (isWriteOf('patch', 't!t!')(call) ? { replyLost: true } : undefined));
  for (let number = 40; number < 60; number += 1) await world.run(table.put(key(number), text(number)));
  process.rule(() => ({ fail: 'unavailable' }));
  await world.run(process.store.close());
  await world.runtime.advance(60_000);
  process.takeCalls();
  await world.runtime.advance(60_000);
  expect(process.calls).toEqual([]);
});
