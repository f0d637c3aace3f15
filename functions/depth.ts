// How deep a value may be nested, in JSON and MessagePack alike.
import { Problem } from './problem.ts';

/** Levels of arrays and maps within one value. Every parser in use reads as many, also with the few levels of a page around them. */
export const DEPTH_MAX = 100;

export function tooDeep(): Problem {
  return new Problem('malformed', `the value is nested deeper than ${DEPTH_MAX} levels of arrays and maps: flatten it`);
}
