// How many writers come first, by the ids of a container's last commits.
import { expect, test } from 'vitest';
import { tagged, writersAhead } from '../../../shared/store/traffic/writer-order.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { hexId } from '../../support/ids.ts';

const [A, B, C] = ['aaaa', 'bbbb', 'cccc'] as const;

/** A header whose commits were made by these, oldest first. */
function writtenBy(...tags: readonly string[]): Header {
  const ids = tags.map((tag, index) => tag + index.toString(16).padStart(12, '0'));
  return { commitIds: Buffer.from(ids.join(''), 'hex') } as unknown as Header;
}

test.each([
  ['who wrote it last, of three', C, [A, B, C], 2],
  ['who wrote it before that', B, [A, B, C], 1],
  ['who wrote it least recently', A, [A, B, C], 0],
  ['who wrote often, by his last commit', A, [A, B, A, A], 1],
  ['others that wrote often count once', A, [B, C, B, C, A], 2],
  ['who wrote it alone', A, [A, A, A], 0],
] as const)('%s', (_, tag, tags, before) => {
  expect(writersAhead(writtenBy(...tags), tag)).toBe(before);
});

test('who never wrote it, or not for 32 commits, is new, and whoever left that long ago has no turn', () => {
  expect(writersAhead(writtenBy(), A)).toBeUndefined();
  expect(writersAhead(writtenBy(B, C), A)).toBeUndefined();
  const others = Array.from({ length: 31 }, () => B);
  expect(writersAhead(writtenBy(A, ...others), A)).toBe(0);
  expect(writersAhead(writtenBy(A, ...others, B), A)).toBeUndefined();
  const own = Array.from({ length: 31 }, () => A);
  expect(writersAhead(writtenBy(B, ...own), A)).toBe(1);
  expect(writersAhead(writtenBy(B, ...own, A), A)).toBe(0);
});

test('an id begins with the tag of its process, and is its own beyond it', () => {
  const id = tagged(hexId('0123456789abcdef'), A);
  expect(id).toBe('aaaa456789abcdef');
  expect(writersAhead({ commitIds: Buffer.from(id, 'hex') } as unknown as Header, A)).toBe(0);
});
