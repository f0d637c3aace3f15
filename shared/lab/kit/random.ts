// Seeded randomness: a cell can be run again with the very same records and keys.

/** Numbers in [0, 1). */
export type Random = () => number;

/**
 * The Mulberry32 generator (Tommy Ettinger, public domain:
 * https://gist.github.com/tommyettinger/46a874533244883189143505d203312c).
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export function randomInt(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** MurmurHash3's 32-bit finalizer (Appleby, public domain). Distinct numbers stay distinct. */
export function scramble32(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
