// Bytes as chance alters them, for decoders: the same seed gives the same.
import { type Chance, chanceOf } from '../functions/fuzz/fuzz-chance.ts';

const EDITS_MAX = 4;
const RUN_BYTES_MAX = 12;

/** Altered copies, each by up to four edits. */
export function* altered(golden: Buffer, copies: number, seed = 1): Generator<Buffer> {
  const chance = chanceOf(seed);
  for (let copy = 0; copy < copies; copy += 1) {
    let bytes = golden;
    for (let edits = 1 + chance.below(EDITS_MAX); edits > 0; edits -= 1) bytes = edited(bytes, chance);
    yield bytes;
  }
}

/** A run of bytes replaced: by others, by the largest numbers, by itself twice, by nothing. */
function edited(bytes: Buffer, chance: Chance): Buffer {
  const from = chance.below(bytes.length + 1);
  const run = bytes.subarray(from, from + chance.below(RUN_BYTES_MAX));
  const by = chance.pick([
    () => Buffer.from(run.map(() => chance.below(256))),
    () => Buffer.from(run.map((byte) => byte ^ (1 << chance.below(8)))),
    () => Buffer.alloc(run.length, 0xff),
    () => Buffer.concat([run, run]),
    () => Buffer.alloc(0),
  ])();
  const rest = chance.below(16) === 0 ? [] : [bytes.subarray(from + run.length)];
  return Buffer.concat([bytes.subarray(0, from), by, ...rest]);
}

/** Counts what a decoder gave and what it refused as it says it does; throws anything else on. */
export class Tally {
  #values = 0;
  #errors = 0;

  try(decode: () => unknown, isStated: (error: unknown) => boolean): void {
    try {
      decode();
      this.#values += 1;
    } catch (error) {
      if (!isStated(error)) throw error;
      this.#errors += 1;
    }
  }

  /** The less frequent of both: above 0 in a test that reaches either. */
  get rarer(): number {
    return Math.min(this.#values, this.#errors);
  }
}
