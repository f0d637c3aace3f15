import { expect, test } from 'vitest';
import { StowageLevel } from '../../shared/adapters/level.ts';
import { levelSuite } from './level-suite.ts';
import { STORES } from './stores.ts';

levelSuite(STORES.slice(0, 1));

test('text of ASCII is a record’s key, any byte keeps its order, and the empty key is stored', async () => {
  const [, store] = STORES[0]!;
  const db = new StowageLevel<Buffer>(store, 'level-keys', { keyEncoding: 'buffer' });
  const keys = [Buffer.of(), Buffer.of(0), Buffer.of(0, 0), Buffer.from('user:1'), Buffer.of(0x80), Buffer.of(0xff)];
  await db.batch(keys.toReversed().map((key) => ({ type: 'put', key, value: 'v' })));
  expect(await db.keys().all()).toEqual(keys);
  expect(await db.keys({ reverse: true, gt: Buffer.of(0), lte: Buffer.of(0x80) }).all()).toEqual(
    keys.slice(2, 5).toReversed(),
  );
  expect(await db.table.has('user:1')).toBe(true);
});

test('the last operation of a batch on a key counts, and the table’s errors are thrown', async () => {
  const [, store] = STORES[0]!;
  const db = new StowageLevel(store, 'level-batch');
  await db.batch([
    { type: 'put', key: 'a', value: '1' },
    { type: 'del', key: 'a' },
    { type: 'del', key: 'b' },
    { type: 'put', key: 'b', value: '2' },
  ]);
  expect(await db.iterator().all()).toEqual([['b', '2']]);
  await expect(db.put('x'.repeat(2_000), '1')).rejects.toMatchObject({ code: 'invalid' });
  await expect(db.batch([{ type: 'put', key: 'x'.repeat(2_000), value: '1' }])).rejects.toMatchObject({
    code: 'invalid',
  });
});
