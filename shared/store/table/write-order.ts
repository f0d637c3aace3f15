// Orders a batch by position in waves of distinct keys: a container's changes are neighbours.
import type { Order } from '../contract/options.ts';
import { compareBytes } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';
import type { Turns } from '../io/turns.ts';

/** By index of the item; undefined for an invalid key. */
type Located = readonly ({ readonly position: Position } | undefined)[];

/** Numbers sorted without a pause: a few milliseconds. */
const NUMBERS_AT_ONCE = 50_000;
/** A hash's first four bytes and an index below this make one exact number. */
const INDEXES_MAX = 2 ** 21;
const PREFIXES = 2 ** 32;

/** Waves by position, each position once; equal ones keep their order. Invalid keys come first. */
export async function wavesOf(items: Located, order: Order, turns: Turns): Promise<number[][]> {
  const isHashed = order === 'hash' && items.length <= INDEXES_MAX;
  const sorted = isHashed
    ? await sortHashed(items, turns)
    : await turns.sort([...items.keys()], (a, b) => compareLocated(items, a, b));
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

/** Sorts numbers, which takes no call a comparison, in buckets with a pause between them. */
async function sortHashed(items: Located, turns: Turns): Promise<number[]> {
  const count = Math.ceil(items.length / NUMBERS_AT_ONCE);
  const buckets = Array.from({ length: count }, (): number[] => []);
  await turns.forEach(items, (item, index) => {
    const prefix = item === undefined ? 0 : firstFourBytes(item.position);
    buckets[Math.floor((prefix / PREFIXES) * count)]!.push(prefix * INDEXES_MAX + index);
  });
  const sorted: number[] = [];
  for (const bucket of buckets) {
    if (turns.isLong) await turns.pause();
    addSorted(items, Float64Array.from(bucket).sort(), sorted);
  }
  return sorted;
}

/** Adds the indexes in order of their numbers; equal prefixes in order of positions. */
function addSorted(items: Located, numbers: Float64Array, sorted: number[]): void {
  let first = 0;
  while (first < numbers.length) {
    const prefix = Math.floor(numbers[first]! / INDEXES_MAX);
    const behind = (prefix + 1) * INDEXES_MAX;
    let end = first + 1;
    while (end < numbers.length && numbers[end]! < behind) end += 1;
    if (end === first + 1) sorted.push(numbers[first]! % INDEXES_MAX);
    else {
      const alike = Array.from(numbers.subarray(first, end), (number) => number % INDEXES_MAX);
      for (const index of alike.sort((a, b) => compareLocated(items, a, b))) sorted.push(index);
    }
    first = end;
  }
}

function compareLocated(items: Located, a: number, b: number): number {
  const [left, right] = [items[a]?.position, items[b]?.position];
  if (left === undefined || right === undefined)
    return (left === undefined ? 0 : 1) - (right === undefined ? 0 : 1) || a - b;
  return compareBytes(left, right) || a - b;
}

function firstFourBytes(hash: Position): number {
  return hash[0]! * 2 ** 24 + (hash[1]! << 16) + (hash[2]! << 8) + hash[3]!;
}
