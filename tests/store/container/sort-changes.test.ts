// Which waiting changes go into a container's next commit, and which belong elsewhere.
import { expect, test } from 'vitest';
import type { Change } from '../../../shared/store/container/change.ts';
import { sortChanges } from '../../../shared/store/container/decide.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { hexId } from '../../support/ids.ts';
import { change, remove } from './changes.ts';
import { EMPTY_LEAF, TABLE } from './nodes.ts';

const NODE: Header = { ...EMPTY_LEAF, low: Buffer.from('f'), high: Buffer.from('m'), right: hexId('cccccccccccccccc') };

function names(changes: readonly Change[]): string {
  return changes.map(({ key }) => Buffer.from(key).toString()).join(' ');
}

function sorted(changes: readonly Change[], header = NODE, countMax = 10) {
  const found = sortChanges(changes, header, { countMax, table: TABLE });
  return Object.fromEntries(
    Object.entries(found).flatMap(([where, some]) => (some.length > 0 ? [[where, names(some)]] : [])),
  );
}

test('a commit takes the changes of its container, sorted by position, up to its maximum', () => {
  const changes = ['k', 'g', 'z', 'f', 'a', 'h'].map((key) => remove(key));
  expect(sorted(changes)).toEqual({ here: 'f g h k', right: 'z', restart: 'a' });
  expect(sorted(changes, NODE, 2)).toEqual({ here: 'g k', later: 'f h', right: 'z', restart: 'a' });
  expect(sorted(changes, { ...NODE, state: 'retired' })).toEqual({ gone: 'k g z f a h' });
});

test('a commit takes no further changes beyond 4 MiB', () => {
  const large = ['f', 'g', 'h'].map((key) => change(key, { kind: 'remove' }, { bytes: 3 * 1024 * 1024 }));
  expect(sorted(large)).toEqual({ here: 'f g', later: 'h' });
});

test('settled changes are left out, and a change made for another order fails', () => {
  const [settled, other] = [remove('g'), change('h', { kind: 'remove' }, { order: 'hash' })];
  settled.settle({ kind: 'failed', error: undefined });
  expect(sorted([settled, other, remove('k')])).toEqual({ here: 'k' });
  expect(other.isSettled).toBe(true);
});
