// Chance from a seed, and JSON made of it: the same seed gives the same.
import { seededRandom } from '../../../shared/lab/kit/random.ts';

export interface Chance {
  /** A whole number from 0 to below `max`. */
  below(max: number): number;
  pick<T>(list: readonly T[]): T;
}

export function chanceOf(seed: number): Chance {
  const draw = seededRandom(seed);
  const below = (max: number): number => Math.floor(draw() * max);
  return { below, pick: (list) => list[below(list.length)]! };
}

const SCALARS = '0 -0 1.5 1e400 -1E-7 12345678901234567890 true false null "" "\\ud800"'.split(' ');
const TEXTS = ['"a"', '"é😀"', '"\\u0041\\n\\"\\/"', '"\\\\"', '"\u007f"', '"__proto__"', '"\uFEFF"'];
const BLANKS = ['', '', '', ' ', '\n', '\t\r '];

/** A JSON text, some with blanks. */
export function jsonOf(chance: Chance, levels = 4): string {
  const blank = (): string => chance.pick(BLANKS);
  const parts = (one: () => string): string =>
    Array.from({ length: chance.below(4) }, one).join(`${blank()},${blank()}`);
  const kind = levels === 0 ? 0 : chance.below(4);
  if (kind === 2) return `[${blank()}${parts(() => jsonOf(chance, levels - 1))}${blank()}]`;
  if (kind === 3)
    return `{${blank()}${parts(() => `${chance.pick(TEXTS)}${blank()}:${jsonOf(chance, levels - 1)}`)}${blank()}}`;
  return `${blank()}${chance.pick(kind === 0 ? SCALARS : TEXTS)}${blank()}`;
}

/** The bytes with one of them gone, doubled, or another. */
export function mutated(bytes: Buffer, chance: Chance): Buffer<ArrayBuffer> {
  const at = chance.below(bytes.length + 1);
  const others = Buffer.from('"\\,:[]{}0-.eEu\u0000\u0080 ');
  const [from, inserted] = [
    [at + 1, Buffer.alloc(0)],
    [at, others.subarray(chance.below(others.length)).subarray(0, 1)],
    [at + 1, Buffer.of(chance.below(256))],
    [at, bytes.subarray(at, at + 1)],
  ][chance.below(4)] as [number, Buffer];
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(from)]);
}
