// What the fences of a node say of a position.
import { expect, test } from 'vitest';
import { locate } from '../../../shared/store/container/branch.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { hexId } from '../../support/ids.ts';

const NODE: Header = {
  order: 'key',
  state: 'live',
  incarnation: hexId('aaaaaaaaaaaaaaaa'),
  container: hexId('bbbbbbbbbbbbbbbb'),
  level: 0,
  low: Buffer.from('f'),
  high: Buffer.from('m'),
  right: hexId('cccccccccccccccc'),
  origin: undefined,
  nextNumber: 1,
  commitCount: 1,
  commitIds: Buffer.alloc(0),
  createdAtMs: 0,
  deadSlots: [],
  pages: [],
  layers: [],
  holdForMs: 0,
  lastSplit: undefined,
};

test.each([
  ['at its low', 'f', {}, 'here'],
  ['between its fences', 'g', {}, 'here'],
  ['at its high', 'm', {}, 'right'],
  ['above its high', 'z', {}, 'right'],
  ['above the low of the last node of its level', 'z', { high: undefined, right: undefined }, 'here'],
  ['below its low', 'e', {}, 'restart'],
  ['in a node of another level', 'g', { level: 1 }, 'restart'],
  ['in a dead node', 'g', { state: 'removed' }, 'restart'],
] as const)('a position %s', (_, position, differing: Partial<Header>, found) => {
  expect(locate({ ...NODE, ...differing }, Buffer.from(position), 0)).toBe(found);
});
