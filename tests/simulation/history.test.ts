// The judge of histories accepts allowed orders, and rejects others.
import { expect, test } from 'vitest';
import { type Effect, isLinearizable, type Operation, OPERATIONS_MAX, type State } from './history.ts';

function operation(name: string, calledAt: number, answeredAt: number, effect: Effect, after?: Operation): Operation {
  return { name, calledAt, answeredAt, effect, after };
}

const put = (id: string, from: number, to: number, after?: Operation): Operation =>
  operation(`put ${id}`, from, to, () => [id], after);
const get = (seen: State, from: number, to: number): Operation =>
  operation(`get ${seen}`, from, to, (state) => (state === seen ? [state] : []));
const remove = (deleted: boolean, from: number, to: number): Operation =>
  operation('delete', from, to, (state) => ((state !== undefined) === deleted ? [undefined] : []));
const putIf = (base: State, id: string, from: number, to: number): Operation =>
  operation(`put ${id} over ${base}`, from, to, (state) => (state === base ? [id] : []));
const conflict = (base: State, from: number, to: number): Operation =>
  operation(`conflict with ${base}`, from, to, (state) => (state === base ? [] : [state]));

const LEGAL: Record<string, Operation[]> = {
  'a read before anything was written': [get(undefined, 1, 2)],
  'one after the other': [
    put('a', 1, 2),
    get('a', 3, 4),
    put('b', 5, 6),
    get('b', 7, 8),
    remove(true, 9, 10),
    get(undefined, 11, 12),
  ],
  'a read beside a write sees the old': [put('a', 1, 2), put('b', 3, 8), get('a', 4, 5), get('b', 6, 7)],
  'two writes at once, in either order': [put('a', 1, 10), put('b', 2, 9), get('a', 11, 12)],
  'two writes at once, in the other order': [put('a', 1, 10), put('b', 2, 9), get('b', 11, 12)],
  'a write of unknown fate that took effect at once': [put('a', 1, Infinity), get('a', 2, 3)],
  'a write of unknown fate that took effect much later': [
    put('a', 1, Infinity),
    get(undefined, 2, 3),
    put('b', 4, 5),
    get('b', 6, 7),
    get('a', 8, 9),
  ],
  'a write of unknown fate that never took effect': [put('a', 1, Infinity), get(undefined, 2, 3), get(undefined, 4, 5)],
  'one condition of two holds': [put('a', 1, 2), putIf('a', 'b', 3, 8), conflict('a', 4, 9), get('b', 10, 11)],
  'a conflict beside the delete that ends it': [put('a', 1, 2), remove(true, 3, 8), conflict('a', 4, 7)],
  'two writes at once, in the order of their versions': [
    { ...put('a', 1, 10), version: 2 },
    { ...put('b', 2, 9), version: 1 },
    get('a', 11, 12),
  ],
  'forty writes at once by version, one of them of unknown fate before another': [
    put('lost', 1, Infinity),
    ...Array.from({ length: 40 }, (_, at) => ({ ...put(`w${at}`, 1, 100 - at), version: at })),
    { ...putIf('lost', 'last', 1, 101), version: 40 },
    get('last', 102, 103),
  ],
  'a batch in its order': [put('a', 1, 10), put('b', 1, 11), get('b', 12, 13)],
};

const ILLEGAL: Record<string, Operation[]> = {
  'a value from nowhere': [get('a', 1, 2)],
  'an acknowledged write that is lost': [put('a', 1, 2), get(undefined, 3, 4)],
  'a stale read': [put('a', 1, 2), put('b', 3, 4), get('a', 5, 6)],
  'a read that goes back, within one write': [put('a', 1, 2), put('b', 3, 10), get('b', 4, 5), get('a', 6, 7)],
  'two writes at once, against the order of their versions': [
    { ...put('a', 1, 10), version: 2 },
    { ...put('b', 2, 9), version: 1 },
    get('b', 11, 12),
  ],
  'a write that takes effect before it was called': [get('a', 1, 2), put('a', 3, 4)],
  'a write of unknown fate before it was called': [get('a', 1, 2), put('a', 3, Infinity)],
  'a write of unknown fate that took effect twice: 1, 2, 1': [
    put('a', 1, Infinity),
    get('a', 2, 3),
    put('b', 4, 5),
    get('b', 6, 7),
    get('a', 8, 9),
  ],
  'two conditions on one state that both held': [put('a', 1, 2), putIf('a', 'b', 3, 8), putIf('a', 'c', 4, 9)],
  'a conflict where the condition held throughout': [put('a', 1, 2), conflict('a', 3, 4)],
  'a delete that says it was absent': [put('a', 1, 2), remove(false, 3, 4)],
  'a record that comes back after its delete': [put('a', 1, 2), remove(true, 3, 4), get('a', 5, 6)],
};

test.each(Object.entries(LEGAL))('legal: %s', (_, history) => {
  expect(isLinearizable(history)).toBe(true);
  expect(isLinearizable(history.toReversed())).toBe(true);
});

test.each(Object.entries(ILLEGAL))('illegal: %s', (_, history) => {
  expect(isLinearizable(history)).toBe(false);
  expect(isLinearizable(history.toReversed())).toBe(false);
});

test('illegal: items of a batch in another order than theirs', () => {
  const first = put('a', 1, 10);
  const second = put('b', 1, 10, first);
  expect(isLinearizable([first, second, get('b', 11, 12)])).toBe(true);
  expect(isLinearizable([first, second, get('a', 11, 12)])).toBe(false);
});

test('an effect that may leave several states is explained by any of them', () => {
  const either = operation('either', 1, Infinity, () => ['a', 'b']);
  expect(isLinearizable([either, get('a', 2, 3)])).toBe(true);
  expect(isLinearizable([either, get('b', 2, 3)])).toBe(true);
  expect(isLinearizable([either, get('a', 2, 3), get('b', 4, 5)])).toBe(false);
});

test('long histories are judged, those that are too long are refused', () => {
  const rounds = Array.from({ length: OPERATIONS_MAX / 2 }, (_, round) => [
    put(`${round}`, 4 * round, 4 * round + 9),
    get(`${round}`, 4 * round + 2, 4 * round + 12),
  ]);
  expect(isLinearizable(rounds.flat())).toBe(true);
  expect(isLinearizable([...rounds.flat().slice(0, -1), get('0', 1_000, 1_001)])).toBe(false);
  expect(() => isLinearizable([...rounds.flat(), get('x', 1, 2)])).toThrow('too many');
});
