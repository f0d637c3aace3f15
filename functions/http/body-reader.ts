// Reads a body once, left to right. Checks all of it and builds only what is asked for.
import { VALUE_DEPTH_MAX } from '../../shared/store/index.ts';
import { Problem } from './problem.ts';

/** The most values of a body, with nested ones. 16 MiB of `{}` would take a second. */
export const VALUES_MAX = 1_048_576;

export type ValueKind = 'map' | 'array' | 'string' | 'scalar';

/** All methods throw the Problem `malformed`, or `too_large` beyond `VALUES_MAX` values. */
export interface ValueReader {
  readonly kind: ValueKind;
  /** Calls `read` before each item of the array that comes next, to read that item. */
  items(read: () => void): void;
  /** Calls `read` before each member's value. A name that is no string is undefined. */
  members(read: (name: string | undefined) => void): void;
  /** A string of JSON has at most 4 MiB. A 64-bit integer of MessagePack is a bigint. */
  scalar(): unknown;
  /** The bytes of the next value, of at most 100 levels. */
  value(): Uint8Array;
  /** Throws unless all was read. */
  end(): void;
}

export class ValueCount {
  #left = VALUES_MAX;

  add(): void {
    this.#left -= 1;
    if (this.#left < 0)
      throw new Problem('too_large', `the body holds more than ${VALUES_MAX} values: send fewer at once`);
  }
}

export function tooDeep(): Problem {
  const detail = `the value is nested deeper than ${VALUE_DEPTH_MAX} levels of arrays and maps: flatten it`;
  return new Problem('malformed', detail);
}
