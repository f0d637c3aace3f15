// Scratch memory is reused and bounded, and tells which bytes the next use overwrites.
import { expect, test } from 'vitest';
import { ScratchMemory } from '../../../shared/store/format/bytes.ts';

test('take returns the same buffer as long as it is large enough', () => {
  const memory = new ScratchMemory();
  const first = memory.take(1_000);
  expect(memory.take(2_000)).toBe(first);
  const larger = memory.take(first.length + 1);
  expect(larger.length).toBeGreaterThan(first.length);
  expect(memory.take(1_000)).toBe(larger);
});

test('holds tells whether the next take overwrites the bytes', () => {
  const memory = new ScratchMemory();
  const first = memory.take(1_000);
  expect(memory.holds(first.subarray(10, 20))).toBe(true);
  memory.take(first.length + 1);
  expect(memory.holds(first)).toBe(false);
  expect(memory.holds(Buffer.alloc(10))).toBe(false);
});

test('a buffer larger than a merge of two of the largest records is not kept', () => {
  const memory = new ScratchMemory();
  const kept = memory.take(1024 * 1024);
  const tooLarge = memory.take(4 * 1024 * 1024);
  expect(tooLarge.length).toBeGreaterThanOrEqual(4 * 1024 * 1024);
  expect(memory.take(1024 * 1024)).toBe(kept);
});
