// The memory of pages: what their content reports, by which the cache keeps its bound, and scratch.
import { expect, test } from 'vitest';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { ScratchMemory } from '../../../shared/store/format/bytes.ts';
import { compress, decompress } from '../../../shared/store/format/envelope.ts';
import { PageContent } from '../../../shared/store/format/page-table.ts';

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

test('scratch memory is reused, tells which bytes the next use overwrites, and is bounded', () => {
  const memory = new ScratchMemory();
  const first = memory.take(1_000);
  expect(memory.take(2_000)).toBe(first);
  expect(memory.holds(first.subarray(10, 20))).toBe(true);
  const kept = memory.take(1024 * 1024);
  expect([memory.holds(first), memory.holds(kept)]).toEqual([false, true]);
  // A buffer larger than a merge of two of the largest records is not kept.
  expect(memory.take(4 * 1024 * 1024).length).toBeGreaterThanOrEqual(4 * 1024 * 1024);
  expect(memory.take(1_000)).toBe(kept);
});
