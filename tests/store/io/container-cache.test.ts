// A leaf that had to leave the memory leaves a trace.
import { expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { encodeHeader } from '../../../shared/store/format/header.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { entityVersion } from '../../support/ids.ts';
import { leavesOf, storedRoot } from '../rules/structure.ts';
import { opened } from '../rules/table-steps.ts';
import { World } from '../rules/world.ts';

/** No leaf with 64 rows fits. */
const CACHE_BYTES = 16 * 1024;

/** The one leaf of a table of 64 such records, each in a page of its own, and the root above it. */
async function storedTable(valueBytes: number): Promise<{ readonly leaf: Snapshot; readonly root: Snapshot }> {
  const { world, table } = await opened({ containers: 2 }, new World({ limits: {} }));
  const keys = Array.from({ length: 128 }, (_, number) => `k${number}`);
  await world.run(table.putMany(keys.map((key) => ({ key, value: 'v'.padEnd(valueBytes, '.') }))));
  return { leaf: leavesOf(world.state, 't')[0]!, root: storedRoot(world.state, 't') };
}

const { leaf, root } = await storedTable(10_000);
const { leaf: small } = await storedTable(300);

test('the header of a leaf that had to go is kept, without its pages', () => {
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

test('a leaf that makes room for others leaves its header, which later ones replace', () => {
  const cache = new ContainerCache(1_000_000);
  cache.offer(leaf);
  const later = { ...leaf, version: entityVersion('later'), header: { ...leaf.header, commitCount: 1_000 } };
  cache.offer(later);
  expect(cache.recall(leaf.id)).toBeUndefined();
  cache.offer({ ...leaf, id: `${leaf.id}x` as Snapshot['id'] });
  expect(cache.get(leaf.id)).toBeUndefined();
  const recalled = cache.recall(leaf.id);
  expect(recalled).toMatchObject({ version: 'later', header: { commitCount: 1_000 } });
  // There is room for it again.
  expect(cache.get(leaf.id)).toBe(recalled);
});

test('headers that are kept take a bounded number of bytes, however long each is', () => {
  const cache = new ContainerCache(CACHE_BYTES);
  const header = { ...leaf.header, commitIds: new Uint8Array(8 * 1024) };
  const ids = Array.from({ length: 200 }, (_, number) => `${leaf.id}${number}` as Snapshot['id']);
  for (const id of ids) cache.offer({ ...leaf, id, header });
  const kept = ids.flatMap((id) => cache.recall(id) ?? []);
  expect(kept.length).toBeGreaterThan(1);
  expect(kept.length * encodeHeader(header).length).toBeLessThan(256 * 1024);
});

test('a header that is kept gives way to a later one that is read whole, and not to an earlier one', () => {
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

test.each([1, 4 * 2 ** 20 + 1, 10_000_001, 64 * 2 ** 20])('a cache may have %i bytes', (bytesMax) => {
  expect(() => new ContainerCache(bytesMax)).not.toThrow();
});

test('nothing is left of what is gone, of a branch, and of a leaf that is read whole', () => {
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
