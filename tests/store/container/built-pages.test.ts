// Merges reuse scratch memory, so no page that a commit keeps may lie in it.
import { expect, test } from 'vitest';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import { mergeLayers, SCRATCH } from '../../../shared/store/container/merge-pages.ts';
import { addressOf, type Snapshot } from '../../../shared/store/container/snapshot.ts';
import { sealPage } from '../../../shared/store/container/new-pages.ts';
import { openPage } from '../../../shared/store/format/envelope.ts';
import type { PageRef } from '../../../shared/store/format/page-table.ts';
import { type Page, pageFrom, recordAt } from '../../../shared/store/format/page-body.ts';
import { positionsOf } from '../../../shared/store/format/position.ts';
import { after, change, evaluated, expectModel, KEYS, type Model, randomChanges } from './changes.ts';
import { EMPTY_LEAF, recordOf, RULES, snapshotWith } from './nodes.ts';

function newPage(): Page {
  return pageFrom([recordOf('k', Buffer.alloc(700, 7))]);
}

function pageOf(...keys: readonly string[]): Page {
  return pageFrom(keys.map((key) => recordOf(key)));
}

function sealed(page = newPage(), number = 1, compression: 'none' | 'zstd' = 'none'): PageRef {
  return sealPage(page, EMPTY_LEAF, { low: Buffer.alloc(0), slot: 0, number }, { ...RULES, compression });
}

function bytesOf({ content }: PageRef): { readonly sealed: Buffer; readonly body: Buffer } {
  return { sealed: Buffer.from(content.sealed!), body: Buffer.from(content.page!.body) };
}

test('no later commit changes a page of an earlier one', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = seededRandom(seed);
    const model: Model = new Map();
    let snapshot: Snapshot = snapshotWith({});
    const seen = new Map<PageRef, ReturnType<typeof bytesOf>>();
    for (let commit = 1; commit <= 40; commit += 1) {
      const count = [1, 1, 1, 5, 40][randomInt(random, 5)]!;
      const changes = randomChanges(random, KEYS, model, { count, fill: commit, nowMs: 1_000 });
      snapshot = after(snapshot, evaluated(snapshot, changes, { nowMs: 1_000 }));
      for (const [ref, bytes] of seen) expect(bytesOf(ref)).toEqual(bytes);
      for (const ref of snapshot.header.pages) if (ref.content.sealed !== undefined) seen.set(ref, bytesOf(ref));
    }
    expect(seen.size).toBeGreaterThan(40);
    expectModel(snapshot, model, 1_000, KEYS);
  }
});

test('no later commit changes a large record of an earlier one', () => {
  const values = [1, 2, 3].map((fill) => Buffer.alloc(300_000, fill));
  let snapshot: Snapshot = snapshotWith({});
  const stored = values.map((value) => {
    const changes = [change('k', { kind: 'write', codec: 0, value, expiresAtMs: undefined })];
    snapshot = after(snapshot, evaluated(snapshot, changes, { mergesAll: true }));
    expect(snapshot.header.pages).toHaveLength(1);
    return snapshot.header.pages[0]!;
  });
  for (const [at, { content }] of stored.entries())
    expect(Buffer.compare(recordAt(content.page!, 0).value, values[at]!)).toBe(0);
});

test('layers, some of them empty, merge to the same page with scratch memory and without', () => {
  const layers = [[pageOf('a', 'e')], [], [pageOf('z')], [pageOf('c', 'd')], [], [pageOf('b')]];
  const merge = (memories?: typeof SCRATCH.layers): Buffer =>
    Buffer.from(mergeLayers(layers, positionsOf('key', 0), memories).body);
  expect(merge(SCRATCH.layers)).toEqual(merge());
});

test('a page that compression shrinks is stored compressed', () => {
  const compressed = sealed(newPage(), 1, 'zstd').content;
  expect(compressed.sealed!.length).toBeLessThan(100);
  expect(openPage(compressed.sealed!, addressOf(EMPTY_LEAF, 0, 1), sealed(newPage(), 1, 'zstd').crc).body).toEqual(
    newPage().body,
  );
});

test.each([1, 200, 2 ** 40])('sealing a page again as number %i does not change its first envelope', (number) => {
  const page = newPage();
  const first = sealed(page, 5);
  const bytes = bytesOf(first);
  const second = sealed(page, number);
  expect(bytesOf(first)).toEqual(bytes);
  expect(openPage(first.content.sealed!, addressOf(EMPTY_LEAF, 0, 5), first.crc).body).toEqual(page.body);
  expect(openPage(second.content.sealed!, addressOf(EMPTY_LEAF, 0, number), second.crc).body).toEqual(page.body);
});
