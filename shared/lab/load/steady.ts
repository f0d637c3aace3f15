// When a load is warm: code is compiled, connections are open, caches are filled, and the rate of replies rises no more.

/** Slices of time that are compared: the last ones with as many before them. */
const SLICES = 3;

/** A warm-up that lasts its shortest time is cut into two such groups. */
export const SLICES_LEAST = 2 * SLICES;

/** The last slices together may differ by so much from those before. */
const TOLERANCE = 0.1;

/**
 * Whether the load is steady: the replies of the last three slices differ from those of the three before by at most a tenth, or by at most two standard
 * deviations of what chance alone makes of so few (the square root of all six, if replies came independently). False while there are fewer slices or no replies.
 */
export function isSteady(repliesBySlice: readonly number[]): boolean {
  if (repliesBySlice.length < SLICES_LEAST) return false;
  const late = sum(repliesBySlice.slice(-SLICES));
  const early = sum(repliesBySlice.slice(-SLICES_LEAST, -SLICES));
  if (early === 0 || late === 0) return false;
  return Math.abs(late - early) <= Math.max(TOLERANCE * early, 2 * Math.sqrt(early + late));
}

function sum(some: readonly number[]): number {
  return some.reduce((total, one) => total + one, 0);
}
