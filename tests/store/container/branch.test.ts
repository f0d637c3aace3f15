// A node's fences tell where a position lies, and the pages of a branch name its children.
import { expect, test } from 'vitest';
import {
  childBelow,
  childFor,
  locate,
  pageToChild,
  separatorsAfter,
  splitPartFor,
} from '../../../shared/store/container/branch.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { hexId } from '../../support/ids.ts';
import { childId, EMPTY_LEAF, pageOfChildren, snapshotWith, unread } from './nodes.ts';

const NODE: Header = { ...EMPTY_LEAF, low: Buffer.from('f'), high: Buffer.from('m'), right: hexId('cccccccccccccccc') };

test.each([
  ['at its low', 'here', 'f', {}],
  ['between its fences', 'here', 'g', {}],
  ['at its high', 'right', 'm', {}],
  ['above its high', 'right', 'z', {}],
  ['above the low of the last node of its level', 'here', 'z', { high: undefined, right: undefined }],
  ['below its low', 'restart', 'e', {}],
  ['in a node of another level', 'restart', 'g', { level: 1 }],
  ['in a dropped table', 'restart', 'g', { state: 'removed' }],
  ['in a retired leaf', 'gone', 'g', { state: 'retired' }],
  ['in an absorbed leaf', 'gone', 'g', { state: 'merged' }],
  ['left of a retired leaf', 'gone', 'e', { state: 'retired' }],
  ['right of an absorbed leaf', 'gone', 'z', { state: 'merged' }],
  ['in a retired leaf of another level', 'restart', 'g', { state: 'retired', level: 1 }],
] as const)('for a position %s locate returns %s', (_, found, position, differing: Partial<Header>) => {
  expect(locate({ ...NODE, ...differing }, Buffer.from(position), 0)).toBe(found);
});

const PAGES = [
  pageOfChildren(4, { '': '1', d: '2' }),
  pageOfChildren(7, { f: '3', h: '4', k: '5' }),
  pageOfChildren(9, { p: '6' }),
];

function branch(pages = PAGES, high?: string) {
  return snapshotWith({ level: 1, pages, high: high === undefined ? undefined : Buffer.from(high) });
}

test('the page that owns a position is enough to find its child, even if the other pages are unknown', () => {
  const lone = branch([unread(PAGES[0]!), PAGES[1]!, unread(PAGES[2]!)]);
  const at = (position: string) => {
    const { low, child, end } = childFor(lone, Buffer.from(position), 't');
    return [pageToChild(lone, Buffer.from(position))?.slot, low.toString(), child, end?.toString()];
  };
  expect(at('f')).toEqual([7, 'f', childId('3'), 'h']);
  expect(at('gz')).toEqual([7, 'f', childId('3'), 'h']);
  expect(at('h')).toEqual([7, 'h', childId('4'), 'k']);
  // The last child of a page ends where the next page begins, even if that page is unknown.
  expect(at('ozz')).toEqual([7, 'k', childId('5'), 'p']);
  expect(pageToChild(lone, Buffer.from('e'))?.slot).toBe(4);
  expect(pageToChild(lone, Buffer.from('z'))?.slot).toBe(9);
  expect(() => childFor(lone, Buffer.from('e'), 't')).toThrow('was not read');
});

test('the last child of a branch ends where the branch does', () => {
  expect(childFor(branch(), Buffer.from('q'), 't').end).toBeUndefined();
  expect(childFor(branch(PAGES, 'x'), Buffer.from('q'), 't').end?.toString()).toBe('x');
});

test.each([
  ['d', '', '1', 'd'],
  ['da', 'd', '2', 'f'],
  ['f', 'd', '2', 'f'],
  ['fa', 'f', '3', 'h'],
  ['p', 'k', '5', 'p'],
  ['z', 'p', '6', 'x'],
])('rule 28: the last child strictly below %s begins at "%s"', (bound, low, digit, end) => {
  const found = childBelow(branch(PAGES, 'x'), Buffer.from(bound), 't')!;
  expect([Buffer.from(found.low).toString(), found.child, Buffer.from(found.end!).toString()]).toEqual([
    low,
    childId(digit),
    end,
  ]);
});

test.each([
  ['z', 1, 'k'],
  ['z', 2, 'h'],
  ['h', 1, 'd'],
  ['h', 2, ''],
  ['z', 99, ''],
])('rule 28: below %s, after skipping %i children, the last child begins at "%s"', (bound, skipped, low) => {
  expect(Buffer.from(childBelow(branch(PAGES, 'x'), Buffer.from(bound), 't', skipped)!.low).toString()).toBe(low);
});

test('rule 28: no child lies strictly below the separator of the first one', () => {
  expect(childBelow(branch(), Buffer.from(''), 't')).toBeUndefined();
  const begunLate = { ...pageOfChildren(4, { d: '2', f: '3' }), low: Buffer.alloc(0) };
  expect(childBelow(branch([begunLate]), Buffer.from('c'), 't')).toBeUndefined();
  expect(childBelow(branch([begunLate]), Buffer.from('d'), 't')).toBeUndefined();
  expect(childBelow(branch([begunLate]), Buffer.from('e'), 't')?.child).toBe(childId('2'));
});

test('a branch without a child for a position that it owns is corrupt', () => {
  const damaged = branch([pageOfChildren(4, { d: '2' })]);
  expect(() => childFor(damaged, Buffer.from('a'), 't')).toThrow(expect.objectContaining({ code: 'corrupt' }) as Error);
  expect(pageToChild(damaged, Buffer.from('a'))).toBeUndefined();
});

test('separatorsAfter returns the separators above a low, as far as pages are known', () => {
  const after = (pages: typeof PAGES, low: string, count = 10, high?: string): string[] =>
    separatorsAfter(branch(pages, high), Buffer.from(low), count, 't').map((each) => each.toString());
  expect(after(PAGES, '')).toEqual(['d', 'f', 'h', 'k', 'p']);
  expect(after(PAGES, 'g')).toEqual(['h', 'k', 'p']);
  expect(after(PAGES, 'f', 2)).toEqual(['h', 'k']);
  expect(after(PAGES, 'h', 10, 'x')).toEqual(['k', 'p', 'x']);
  expect(after(PAGES, 'p', 10, 'x')).toEqual(['x']);
  const [first, middle, last] = PAGES;
  // It stops where the first unknown page begins, as that page's separators would be skipped.
  expect(after([first!, unread(middle!), last!], '', 10, 'x')).toEqual(['d', 'f']);
  // The branch was split meanwhile and now ends below the low.
  expect(after(PAGES, 'x', 10, 'q')).toEqual([]);
  expect(after([unread(first!), middle!, last!], 'f')).toEqual(['h', 'k', 'p']);
  expect(after([unread(first!), middle!, last!], '')).toEqual([]);
});

test('separatorsAfter returns one separator for successive entries of one child, and none if it begins before', () => {
  const pages = [pageOfChildren(4, { '': '1', d: '1', f: '2' }), pageOfChildren(7, { h: '2', k: '3', p: '2' })];
  const after = (low: string, count = 10): string[] =>
    separatorsAfter(branch(pages), Buffer.from(low), count, 't').map((each) => each.toString());
  expect(after('')).toEqual(['f', 'k', 'p']);
  expect(after('e')).toEqual(['f', 'k', 'p']);
  expect(after('f')).toEqual(['k', 'p']);
  expect(after('h')).toEqual(['k', 'p']);
  expect(after('h', 1)).toEqual(['k']);
});

test('splitPartFor returns the last part that does not begin above the position', () => {
  const parts = ['m', 't'].map((low) => ({ low: Buffer.from(low), container: childId('1') }));
  const header = { ...EMPTY_LEAF, lastSplit: { parts, commit: 7 }, high: Buffer.from('m') };
  const at = (position: string): string | undefined => splitPartFor(header, Buffer.from(position))?.low.toString();
  expect(['l', 'm', 'sz', 't', 'z'].map(at)).toEqual([undefined, 'm', 'm', 't', 't']);
  expect(splitPartFor(EMPTY_LEAF, Buffer.from('m'))).toBeUndefined();
  // A part that begins within the node itself would lead in a circle.
  expect(splitPartFor({ ...header, high: Buffer.from('n') }, Buffer.from('m'))).toBeUndefined();
});
