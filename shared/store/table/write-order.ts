// The order in which a batch is written: by position, so that a container's changes lie side by side, and in waves of distinct keys.
import type { Order } from '../contract/api.ts';
import { compareBytes } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';
import type { Turns } from '../io/turns.ts';

/** Where the items of a batch belong, by their index; undefined where a key makes no sense. */
type Places = readonly ({ readonly position: Position } | undefined)[];

/** Numbers that are sorted at once: a few milliseconds. */
const NUMBERS_AT_ONCE = 50_000;
/** The first four bytes of a hash, which tell nearly all apart, and an index make one exact number, if indexes stay below this. */
const INDEXES_MAX = 2 ** 21;
const PREFIXES = 2 ** 32;

/**
 * The indexes of a batch in as few waves as hold each position at most once, in turns: each wave in order of position, equal positions in the order
 * given. What has no position is in the first wave.
 */
export async function wavesOf(places: Places, order: Order, turns: Turns): Promise<number[][]> {
  const isHashed = order === 'hash' && places.length <= INDEXES_MAX;
  const sorted = isHashed ? await sortHashed(places, turns) : await sortWhole(places, turns);
  const waves: number[][] = [[]];
  let wave = 0;
  let before: Position | undefined;
  await turns.forEach(sorted, (index) => {
    const position = places[index]?.position;
    wave = position !== undefined && before !== undefined && compareBytes(before, position) === 0 ? wave + 1 : 0;
    before = position;
    (waves[wave] ??= []).push(index);
  });
  return waves;
}

async function sortWhole(places: Places, turns: Turns): Promise<number[]> {
  return turns.sort([...places.keys()], (a, b) => comparePlaces(places, a, b));
}

/** As numbers, which are sorted without a call for each comparison: in buckets, each of which a turn has time for. */
async function sortHashed(places: Places, turns: Turns): Promise<number[]> {
  const count = Math.ceil(places.length / NUMBERS_AT_ONCE);
  const buckets = Array.from({ length: count }, (): number[] => []);
  await turns.forEach(places, (place, index) => {
    const prefix = place === undefined ? 0 : firstFourBytes(place.position);
    buckets[Math.floor((prefix / PREFIXES) * count)]!.push(prefix * INDEXES_MAX + index);
  });
  const sorted: number[] = [];
  for (const bucket of buckets) {
    if (turns.isLong) await turns.pause();
    addSorted(places, Float64Array.from(bucket).sort(), sorted);
  }
  return sorted;
}

/** Adds the indexes in the order of their numbers, and where positions begin alike, in the order of these. */
function addSorted(places: Places, numbers: Float64Array, sorted: number[]): void {
  let first = 0;
  while (first < numbers.length) {
    const prefix = Math.floor(numbers[first]! / INDEXES_MAX);
    const behind = (prefix + 1) * INDEXES_MAX;
    let end = first + 1;
    while (end < numbers.length && numbers[end]! < behind) end += 1;
    if (end === first + 1) sorted.push(numbers[first]! % INDEXES_MAX);
    else {
      const alike = Array.from(numbers.subarray(first, end), (number) => number % INDEXES_MAX);
      for (const index of alike.sort((a, b) => comparePlaces(places, a, b))) sorted.push(index);
    }
    first = end;
  }
}

function comparePlaces(places: Places, a: number, b: number): number {
  const [left, right] = [places[a]?.position, places[b]?.position];
  if (left === undefined || right === undefined)
    return (left === undefined ? 0 : 1) - (right === undefined ? 0 : 1) || a - b;
  return compareBytes(left, right) || a - b;
}

function firstFourBytes(hash: Position): number {
  return hash[0]! * 2 ** 24 + (hash[1]! << 16) + (hash[2]! << 8) + hash[3]!;
}
