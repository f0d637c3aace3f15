// Orders the items of a call by position, so that the changes of one container lie side by side.
import type { Order } from '../contract/options.ts';
import { compareBytes } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';
import type { Turns } from '../io/turns.ts';

/** The position of each item, by index; undefined for an invalid key. */
type Located = readonly ({ readonly position: Position } | undefined)[];

/** Waves in order of position. The n-th item with one key goes into the n-th wave. */
export async function wavesOf(items: Located, order: Order, turns: Turns): Promise<number[][]> {
  // Comparing numbers takes a fraction of the time, and tells most hashes apart.
  const prefixes = order === 'hash' ? await turns.map(items, prefixOf) : undefined;
  const sorted = await turns.sort([...items.keys()], (a, b) => {
    const difference = prefixes === undefined ? 0 : prefixes[a]! - prefixes[b]!;
    return difference === 0 ? compareLocated(items, a, b) : difference;
  });
  const waves: number[][] = [[]];
  let wave = 0;
  let before: Position | undefined;
  await turns.forEach(sorted, (index) => {
    const position = items[index]?.position;
    wave = position !== undefined && before !== undefined && compareBytes(before, position) === 0 ? wave + 1 : 0;
    before = position;
    (waves[wave] ??= []).push(index);
  });
  return waves;
}

/** The first four bytes of a hash. */
function prefixOf(item: Located[number]): number {
  if (item === undefined) return -1;
  const { position: hash } = item;
  return hash[0]! * 2 ** 24 + (hash[1]! << 16) + (hash[2]! << 8) + hash[3]!;
}

function compareLocated(items: Located, a: number, b: number): number {
  const [left, right] = [items[a]?.position, items[b]?.position];
  if (left === undefined || right === undefined)
    return (left === undefined ? 0 : 1) - (right === undefined ? 0 : 1) || a - b;
  return compareBytes(left, right) || a - b;
}
