// Who wrote a container, by the tags of the last commits' ids.
import { expect, test } from 'vitest';
import { tagged, writersAhead, writersSince } from '../../../shared/store/container/writers.ts';
import { hexId } from '../../support/ids.ts';
import { EMPTY_LEAF } from './nodes.ts';

const [MINE, B, C] = ['aaaa', 'bbbb', 'cccc'] as const;

const after = (tags: readonly string[]) => {
  const ids = tags.map((tag, index) => tagged(hexId(index.toString(16).padStart(16, '0')), tag));
  return { ...EMPTY_LEAF, commitIds: Buffer.from(ids.join(''), 'hex'), commitCount: ids.length };
};

const others = Array.from({ length: 31 }, () => B);
const own = Array.from({ length: 31 }, () => MINE);

test.each<[string, string[], number | undefined]>([
  ['nobody wrote', [], undefined],
  ['who never wrote is none of them', [B, C], undefined],
  ['nobody else wrote', [MINE, MINE], 0],
  ['who wrote often counts once', [B, C, B, C, MINE], 2],
  ['who wrote since comes later', [B, MINE, C], 1],
  ['who wrote the last but 31 is one of them', [MINE, ...others], 0],
  ['who wrote the last but 32 has left', [MINE, ...others, B], undefined],
  ['another that wrote the last but 31 comes first', [B, ...own], 1],
  ['another that wrote the last but 32 has left', [B, ...own, MINE], 0],
])('%s', (_, tags, ahead) => {
  expect(writersAhead(after(tags), MINE)).toBe(ahead);
});

test('the writers since a commit, as far as the ids go back', () => {
  expect([...writersSince(after([B, C, MINE, C]), 1)]).toEqual([C, MINE]);
  expect([...writersSince({ ...after([B, C]), commitCount: 50 }, 3)]).toEqual([B, C]);
});

test('an id begins with the tag of its process, and is its own beyond it', () => {
  expect(tagged(hexId('0123456789abcdef'), MINE)).toBe('aaaa456789abcdef');
});
