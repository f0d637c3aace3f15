// Short hands for the data files: a number, its range and its source.
import { type Figure, NO_LIMIT } from './parameters.ts';

type Range = readonly [low: number, high: number];

export function documented(middle: number, source: string, [low, high]: Range = [middle, middle]): Figure {
  return { low, middle, high, grade: 'documented', source };
}

export function measured(middle: number, source: string, [low, high]: Range): Figure {
  return { low, middle, high, grade: 'measured', source };
}

export function guessed(middle: number, source: string, [low, high]: Range): Figure {
  return { low, middle, high, grade: 'guessed', source };
}

/** A limit that a provider does not have, or of which no source speaks. */
export function none(why: string): Figure {
  return guessed(0, why, [0, 0]);
}

/** A limit that a provider does not have, or does not state. */
export function unlimited(why: string): Figure {
  return guessed(NO_LIMIT, why, [NO_LIMIT, NO_LIMIT]);
}
