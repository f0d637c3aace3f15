// Pages are changed by copying bytes. The result must equal a page built from scratch.
import { expect, test } from 'vitest';
import { concatenate, mergePages, withoutDead, PURGE_AFTER_MS } from '../../../shared/store/container/merge-pages.ts';
import { compareBytes } from '../../../shared/store/format/bytes.ts';
import {
  cutPage,
  EMPTY_PAGE,
  lowerBound,
  lowerBoundNear,
  type Page,
  pageFrom,
  parsePage,
  recordsOf,
  type StoredRecord,
  tombstoneOf,
} from '../../../shared/store/format/page-body.ts';
import { endOfPrefix, positionsOf, separatorBetween, positionAfter } from '../../../shared/store/format/position.ts';
import { loadHash } from '../../../shared/store/system/hash.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';

const place = positionsOf('key', 0);

function record(name: string, version: number, valueBytes: number, expiresAtMs?: number): StoredRecord {
  return { key: Buffer.from(name), version, expiresAtMs, codec: version % 3, value: Buffer.alloc(valueBytes, version) };
}

function built(records: ReadonlyMap<string, StoredRecord>): Page {
  return pageFrom(sortedNames(records.keys()).map((name) => records.get(name)!));
}

function sortedNames(names: Iterable<string>): string[] {
  return [...names].toSorted((a, b) => compareBytes(Buffer.from(a), Buffer.from(b)));
}

test('merging random changes into a page gives the same bytes as building it anew', () => {
  for (let seed = 1; seed <= 25; seed += 1) {
    const draw = seededRandom(seed);
    const below = (limit: number): number => Math.floor(draw() * limit);
    const model = new Map<string, StoredRecord>();
    let page = EMPTY_PAGE;
    for (let round = 1; round <= 20; round += 1) {
      const names = sortedNames(new Set(Array.from({ length: 1 + below(6) }, () => `key${below(40)}`)));
      const changes = names.map((name) => {
        if (below(3) === 0) {
          model.delete(name);
          return tombstoneOf(Buffer.from(name), round);
        }
        const next = record(name, round, below(300), below(2) === 0 ? undefined : 1 + below(1e9));
        model.set(name, next);
        return next;
      });
      page = withoutDead(mergePages(page, pageFrom(changes), place), 0);
      expect(Buffer.compare(page.body, built(model).body), `seed ${seed} round ${round}`).toBe(0);
      expect(parsePage(page.body).starts).toEqual(page.starts);
    }
  }
});

test('withoutDead drops only the records that expired five minutes ago', () => {
  const page = concatenate([
    pageFrom([record('a', 1, 5, 1_000)]),
    pageFrom([record('b', 2, 5, 2_000), record('c', 3, 5)]),
  ]);
  const kept = withoutDead(page, 2_000 + PURGE_AFTER_MS);
  expect(recordsOf(kept).map(({ version }) => version)).toEqual([2, 3]);
});

test.each([0, 1, 2, 100])(
  'cutPage cuts %d records into pieces of about the size asked for, which equal pages built of them',
  (count) => {
    const records = Array.from({ length: count }, (_, i) =>
      record(`k${1_000 + i}`, i, (i * 37) % 300, i === 50 ? 9 : undefined),
    );
    const pieces = cutPage(pageFrom(records), 2_000);
    expect(pieces).toEqual(pieces.map((piece) => pageFrom(recordsOf(piece))));
    expect(pieces.flatMap(recordsOf)).toEqual(recordsOf(pageFrom(records)));
    for (const { body } of pieces) expect(body.length).toBeLessThan(2 * 2_000);
    expect(pieces.filter(({ mayHoldDead }) => mayHoldDead).length).toBe(count > 50 ? 1 : 0);
  },
);

test('a separator is the shortest position above the left and not above the right one', () => {
  const separator = separatorBetween(Buffer.from('apple'), Buffer.from('apricot'));
  expect(Buffer.from(separator).toString()).toBe('apr');
  const nested = separatorBetween(Buffer.from('ab'), Buffer.from('abc'));
  expect(Buffer.from(nested).toString()).toBe('abc');
});

test('positions of order hash begin with the XXH64 of the key', async () => {
  await loadHash();
  // XXH64 of "" and "a" with seed 0, from the specification's own test vectors.
  expect(Buffer.from(positionsOf('hash', 0)(Buffer.from(''))).toString('hex')).toBe('ef46db3751d8e999');
  expect(Buffer.from(positionsOf('hash', 0)(Buffer.from('a'))).toString('hex')).toBe('d24ec4f1a98c6e5b61');
});

test('the end of a prefix is the first position behind all that begin with it, which 0xff has not', () => {
  expect(endOfPrefix(Buffer.from('ab'))).toEqual(Buffer.from('ac'));
  expect(endOfPrefix(Buffer.from([0x61, 0xff, 0xff]))).toEqual(Buffer.from([0x62]));
  expect(endOfPrefix(Buffer.from([0xff]))).toBeUndefined();
  expect(endOfPrefix(Buffer.alloc(0))).toBeUndefined();
  expect(compareBytes(positionAfter(Buffer.from('a')), Buffer.from('a\u0000'))).toBe(0);
});

test('lowerBoundNear finds the same record as lowerBound, from wherever and however near it starts', () => {
  const names = Array.from({ length: 21 }, (_, index) => String.fromCharCode(65 + 2 * index));
  const page = built(new Map(names.map((name) => [name, record(name, 1, 10)])));
  for (let at = 0; at <= 42; at += 1) {
    const position = Buffer.of(64 + at);
    const found = lowerBound(page, position, place);
    expect(found).toBe(names.filter((name) => name.charCodeAt(0) < 64 + at).length);
    for (let from = 0; from <= found; from += 1) {
      expect(lowerBound(page, position, place, from)).toBe(found);
      for (let near = 1; near <= 24; near += 1)
        expect(lowerBoundNear(page, position, place, { from, near })).toBe(found);
    }
  }
});
