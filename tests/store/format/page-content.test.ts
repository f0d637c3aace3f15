// The memory that the content of a page reports, by which the cache keeps its bound.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { sealPage } from '../../../shared/store/container/new-pages.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { compress, decompress } from '../../../shared/store/format/envelope.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { PageContent } from '../../../shared/store/format/page-table.ts';
import { pageFrom } from '../../../shared/store/format/page-body.ts';

const sealed = Buffer.alloc(100);
const page = { body: Buffer.alloc(300), starts: [0, 150, 300], mayHoldDead: false };

/** The memory of each form's objects, and of the starts of a page. */
const OBJECTS_BYTES = 256;
const STARTS_BYTES = 3 * 12;

test('heldBytes is the memory of the forms that a content holds', () => {
  const content = new PageContent();
  expect([content.isKnown, content.heldBytes]).toEqual([false, 0]);
  content.offer(undefined);
  expect(content.isKnown).toBe(false);
  content.offer(sealed);
  expect([content.isKnown, content.heldBytes]).toEqual([true, OBJECTS_BYTES + 100]);
  content.expandTo(page);
  expect([content.sealed, content.heldBytes]).toEqual([undefined, OBJECTS_BYTES + 300 + STARTS_BYTES]);
  content.offer(sealed);
  expect([content.sealed, content.heldBytes]).toEqual([undefined, OBJECTS_BYTES + 300 + STARTS_BYTES]);
  expect(new PageContent(sealed, page).heldBytes).toBe(2 * OBJECTS_BYTES + 400 + STARTS_BYTES);
});

test('forget drops the damaged form, and keeps the error', () => {
  const content = new PageContent(sealed);
  const damage = new StoreError('corrupt', 'damaged');
  content.forget(damage);
  expect([content.isKnown, content.heldBytes, content.damage]).toEqual([false, 0, damage]);
});

test.each([
  [511, 0],
  [512, 2],
])('a page of %i bytes is stored with compression %i if pages have 1,024', (bodyBytes, compression) => {
  const rules = { table: 't', limits: memoryDriver().limits, compression: 'zstd', pageBytes: 1_024 } as const;
  const node = { incarnation: 'a'.repeat(16), container: 'b'.repeat(16) } as Header;
  const record = { key: Buffer.from('k'), version: 1, codec: 0, value: Buffer.alloc(0), expiresAtMs: undefined };
  const rest = bodyBytes - pageFrom([record]).body.length;
  const value = Buffer.alloc(rest > 127 ? rest - 1 : rest);
  const filled = pageFrom([{ ...record, value }]);
  expect(filled.body.length).toBe(bodyBytes);
  expect(sealPage(filled, node, { low: Buffer.alloc(0), slot: 0, number: 1 }, rules).compression).toBe(compression);
});

test.each(['zstd', 'none'] as const)('a page expanded from %s keeps only its own bytes in memory', (how) => {
  const raw = Buffer.from('all work and no play '.repeat(400));
  const { bytes, tag } = compress(raw, how);
  const expanded = decompress(bytes, tag, raw.length);
  expect(Buffer.from(expanded)).toEqual(raw);
  expect(expanded.buffer.byteLength).toBe(raw.length);
});

test('offer copies a page out of a large reply, but not one that has its memory to itself', () => {
  const reply = Buffer.alloc(1_000);
  const content = new PageContent();
  content.offer(reply.subarray(0, 100));
  expect(content.sealed?.buffer.byteLength).toBe(100);
  const own = new Uint8Array(100);
  const other = new PageContent();
  other.offer(own);
  expect(other.sealed).toBe(own);
});
