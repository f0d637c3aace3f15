// A batch is written in waves of distinct keys by position; equal keys come in the order given.
import { beforeAll, expect, test } from 'vitest';
import type { Order } from '../../../shared/store/contract/options.ts';
import { compareBytes } from '../../../shared/store/format/bytes.ts';
import { type Position, positionsOf } from '../../../shared/store/format/position.ts';
import { Turns } from '../../../shared/store/io/turns.ts';
import { loadHash } from '../../../shared/store/system/hash.ts';
import { wavesOf } from '../../../shared/store/table/write.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

type Places = ({ readonly position: Position } | undefined)[];

const turns = new Turns(new VirtualRuntime());

beforeAll(loadHash);

function placesOf(keys: readonly string[], order: Order): Places {
  return keys.map((key) => ({ position: positionsOf(order, 0)(Buffer.from(key)) }));
}

/** The same by comparing whole positions. */
function expected(places: Places): number[][] {
  const waves: number[][] = [[]];
  const seen = new Map<string, number>();
  const sorted = [...places.keys()].sort((a, b) => comparePositions(places[a], places[b]) || a - b);
  for (const index of sorted) {
    const position = places[index]?.position;
    const name = position === undefined ? `none ${index}` : Buffer.from(position).toString('hex');
    const wave = seen.get(name) ?? 0;
    seen.set(name, wave + 1);
    (waves[wave] ??= []).push(index);
  }
  return waves;
}

function comparePositions(a: Places[number], b: Places[number]): number {
  return a === undefined || b === undefined
    ? Number(a !== undefined) - Number(b !== undefined)
    : compareBytes(a.position, b.position);
}

const ORDERS = ['hash', 'key'] as const;

test.each([0, 1, 2, 500, 12_345].flatMap((count) => ORDERS.map((order) => [count, order] as const)))(
  '%d keys of order %s, some of them given twice, make the waves that comparing whole positions gives',
  async (count, order) => {
    const draw = seededRandom(count);
    const keys = Array.from({ length: count }, () => `key${Math.floor(draw() * 2 * count)}`);
    const places = placesOf(keys, order);
    expect(await wavesOf(places, order, turns)).toEqual(expected(places));
  },
);

test('more keys than are sorted at once make two waves', async () => {
  const places = placesOf(
    Array.from({ length: 120_001 }, (_, index) => `key${index % 119_999}`),
    'hash',
  );
  const waves = await wavesOf(places, 'hash', turns);
  expect(waves.map(({ length }) => length)).toEqual([119_999, 2]);
  expect(waves).toEqual(expected(places));
});

test('positions that begin with the same four bytes are told apart by the rest', async () => {
  const places = [5, 3, 9, 3, 1].map((last) => ({ position: Buffer.from([255, 255, 255, 255, 0, 0, 0, last, 107]) }));
  expect(await wavesOf(places, 'hash', turns)).toEqual([[4, 1, 0, 2], [3]]);
});

test.each(ORDERS)('order %s: items without a position are in the first wave', async (order) => {
  const [a, b] = placesOf(['a', 'b'], order);
  const waves = await wavesOf([undefined, a, undefined, b, a, undefined], order, turns);
  expect(waves.length).toBe(2);
  expect(waves[0]!.slice(0, 3)).toEqual([0, 2, 5]);
  expect(waves[1]).toEqual([4]);
});
