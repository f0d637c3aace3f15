// The cache evicts leaves, and keeps the headers of large ones.
import { expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { encodeHeader } from '../../../shared/store/format/header.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { entityVersion } from '../../support/ids.ts';
import { leavesOf, storedRoot } from '../rules/tree-of.ts';
import { opened } from '../rules/table-steps.ts';
import { World } from '../rules/world.ts';

/** A leaf with 64 rows does not fit. */
const CACHE_BYTES = 16 * 1024;

/** One leaf of a table of 128 records of this size, and the table's root. */
async function storedTable(valueBytes: number): Promise<{ readonly leaf: Snapshot; readonly root: Snapshot }> {
  const { world, table } = await opened({ containers: 2 }, new World({ limits: {} }));
  const keys = Array.from({ length: 128 }, (_, number) => `k${number}`);
  await world.run(table.putMany(keys.map((key) => ({ key, value: 'v'.padEnd(valueBytes, '.') }))));
  return { leaf: leavesOf(world.state, 't')[0]!, root: storedRoot(world.state, 't') };
}

const { leaf, root } = await storedTable(10_000);
const { leaf: small } = await storedTable(300);

test('the cache keeps the header of a leaf that does not fit, without its pages', () => {
  const cache = new ContainerCache(CACHE_BYTES);
  expect(cache.recall(leaf.id)).toBeUndefined();
  cache.offer(leaf);
  expect(cache.get(leaf.id)).toBeUndefined();
  const { id, version, lastCommit, header } = cache.recall(leaf.id)!;
  expect([id, version, lastCommit]).toEqual([leaf.id, leaf.version, leaf.lastCommit]);
  expect(header.pages.map(({ slot, number, crc }) => [slot, number, crc])).toEqual(
    leaf.header.pages.map(({ slot, number, crc }) => [slot, number, crc]),
  );
  expect(header.pages.some(({ content }) => content.isKnown)).toBe(false);
  cache.offer({ ...leaf, version: entityVersion('later') });
  expect(cache.recall(leaf.id)?.version).toBe('later');
});

test('the header of an evicted leaf is kept with its latest commit, and recall puts it back into the cache', () => {
  const cache = new ContainerCache(1_000_000);
  cache.offer(leaf);
  const later = { ...leaf, version: entityVersion('later'), header: { ...leaf.header, commitCount: 1_000 } };
  cache.offer(later);
  expect(cache.recall(leaf.id)).toBeUndefined();
  cache.offer({ ...leaf, id: `${leaf.id}x` as Snapshot['id'] });
  expect(cache.get(leaf.id)).toBeUndefined();
  const recalled = cache.recall(leaf.id);
  expect(recalled).toMatchObject({ version: 'later', header: { commitCount: 1_000 } });
  expect(cache.get(leaf.id)).toBe(recalled);
});

test('kept headers take a bounded number of bytes, however long each is', () => {
  const cache = new ContainerCache(CACHE_BYTES);
  const header = { ...leaf.header, commitIds: new Uint8Array(8 * 1024) };
  const ids = Array.from({ length: 200 }, (_, number) => `${leaf.id}${number}` as Snapshot['id']);
  for (const id of ids) cache.offer({ ...leaf, id, header });
  const kept = ids.flatMap((id) => cache.recall(id) ?? []);
  expect(kept.length).toBeGreaterThan(1);
  expect(kept.length * encodeHeader(header).length).toBeLessThan(256 * 1024);
});

test('an earlier commit does not replace a kept header, and a later one that is small removes it', () => {
  const cache = new ContainerCache(CACHE_BYTES);
  const at = (commitCount: number, header = leaf.header): Snapshot => ({
    ...leaf,
    version: entityVersion(`of ${commitCount}`),
    header: { ...header, commitCount },
  });
  cache.offer(at(1_000));
  cache.offer(at(999));
  expect(cache.recall(leaf.id)?.version).toBe('of 1000');
  cache.offer(at(1_001, { ...small.header, commitIds: new Uint8Array(CACHE_BYTES) }));
  expect(cache.recall(leaf.id)).toBeUndefined();
});

test('the cache keeps no header of a forgotten leaf, of a branch or of a small leaf', () => {
  const cache = new ContainerCache(CACHE_BYTES);
  cache.offer(leaf);
  cache.forget(leaf.id);
  expect(cache.recall(leaf.id)).toBeUndefined();
  const large = { ...root.header, pages: leaf.header.pages };
  cache.offer({ ...root, header: large });
  expect(cache.get(root.id)).toBeUndefined();
  expect(cache.recall(root.id)).toBeUndefined();
  cache.offer({ ...small, header: { ...small.header, commitIds: new Uint8Array(CACHE_BYTES) } });
  expect(cache.get(small.id)).toBeUndefined();
  expect(cache.recall(small.id)).toBeUndefined();
});
