// A node names the parts of its last splits.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { lastSplitAfter, encodeHeader, type Header, type LastSplit } from '../../../shared/store/format/header.ts';
import { lastSplitOf } from '../../../shared/store/container/split.ts';
import { splitPartFor } from '../../../shared/store/container/branch.ts';
import { hexId } from '../../support/ids.ts';
import { EMPTY_LEAF } from './nodes.ts';

const LIMITS = memoryDriver().limits;

function node(low: string, container: number): Header {
  return { ...EMPTY_LEAF, low: Buffer.from(low), container: hexId(container.toString(16).padStart(16, '0')) };
}

/** A node before a split, with its commit count and the parts that it names. */
function before(commitCount: number, lastSplit?: LastSplit): Header {
  return { ...EMPTY_LEAF, commitCount, lastSplit };
}

function lowsOf(lastSplit: LastSplit | undefined): string[] {
  return lastSplit?.parts.map(({ low }) => Buffer.from(low).toString()) ?? [];
}

test('a node that is split names the new parts, and then those of an earlier split', () => {
  const first = lastSplitOf([node('m', 1), node('t', 2)], before(6), LIMITS);
  expect(first).toEqual({
    parts: [
      { low: Buffer.from('m'), container: hexId('0000000000000001') },
      { low: Buffer.from('t'), container: hexId('0000000000000002') },
    ],
    commit: 7,
  });
  const second = lastSplitOf([node('f', 3)], before(38, first), LIMITS);
  expect([lowsOf(second), second?.commit]).toEqual([['f', 'm', 't'], 39]);
});

test('a node names the parts of a split for 32 commits', () => {
  const split = lastSplitOf([node('m', 1)], before(6), LIMITS)!;
  expect(lastSplitAfter(split, 39)).toBe(split);
  expect(lastSplitAfter(split, 40)).toBeUndefined();
  expect(lastSplitAfter(undefined, 1)).toBeUndefined();
  // Nor does a later split hand them on.
  expect(lowsOf(lastSplitOf([node('f', 2)], before(39, split), LIMITS))).toEqual(['f']);
});

test.each([
  ['1,024 bytes', LIMITS.entityBytesMax, 1_024],
  ['a 64th of a small entity', 6_400, 100],
])('the parts that a node names take at most %s, the nearest parts first', (_, entityBytesMax, bytesMax) => {
  const nodes = Array.from({ length: 100 }, (_each, index) => node(`low ${String(index).padStart(3, '0')}`, index));
  const lastSplit = lastSplitOf(nodes, before(1_000_000), { ...LIMITS, entityBytesMax })!;
  expect(lowsOf(lastSplit)).toEqual(
    nodes.slice(0, lastSplit.parts.length).map(({ low }) => Buffer.from(low).toString()),
  );
  const bytes = encodeHeader(before(1_000_001, lastSplit)).length - encodeHeader(before(1_000_001)).length;
  expect(bytes).toBeLessThanOrEqual(bytesMax);
  expect(bytes).toBeGreaterThan(0.6 * bytesMax);
});

test('a node names no parts if not even one fits', () => {
  expect(lastSplitOf([node('x'.repeat(200), 1)], before(6), { ...LIMITS, entityBytesMax: 6_400 })).toBeUndefined();
});

test('splitPartFor returns the last part that does not begin above the position', () => {
  const lastSplit = lastSplitOf([node('m', 1), node('t', 2)], before(6), LIMITS);
  const header = { ...before(7, lastSplit), high: Buffer.from('m') };
  const at = (position: string): string | undefined => splitPartFor(header, Buffer.from(position))?.low.toString();
  expect(['l', 'm', 'sz', 't', 'z'].map(at)).toEqual([undefined, 'm', 'm', 't', 't']);
  expect(splitPartFor(before(7), Buffer.from('m'))).toBeUndefined();
  // A part that begins within the node itself would lead in a circle.
  expect(splitPartFor({ ...header, high: Buffer.from('n') }, Buffer.from('m'))).toBeUndefined();
});
