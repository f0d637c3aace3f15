// Which processes wrote a container, by the tags of the last commits' ids.
import { expect, test } from 'vitest';
import { tagged, writersAhead, writersSince } from '../../../shared/store/format/header.ts';
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
  ['no writer', [], undefined],
  ['two other writers', [B, C], undefined],
  ['only this writer', [MINE, MINE], 0],
  ['two others that wrote several times before', [B, C, B, C, MINE], 2],
  ['one other before and one after', [B, MINE, C], 1],
  ['31 commits since its own', [MINE, ...others], 0],
  ['32 commits since its own', [MINE, ...others, B], undefined],
  ['31 commits since the other', [B, ...own], 1],
  ['32 commits since the other', [B, ...own, MINE], 0],
])('writersAhead counts distinct writers of the last 32 commits: %s', (_, tags, ahead) => {
  expect(writersAhead(after(tags), MINE)).toBe(ahead);
});

test('writersSince returns the writers after a commit, as far as the ids go back', () => {
  expect([...writersSince(after([B, C, MINE, C]), 1)]).toEqual([C, MINE]);
  expect([...writersSince({ ...after([B, C]), commitCount: 50 }, 3)]).toEqual([B, C]);
});

test('a tagged id begins with the tag of its process, and keeps its other digits', () => {
  expect(tagged(hexId('0123456789abcdef'), MINE)).toBe('aaaa456789abcdef');
});
