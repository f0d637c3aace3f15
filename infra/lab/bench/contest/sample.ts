// The data of both sides: 10,000 records of 500 bytes of text in five fields, drawn by random keys.
import { uniformIndexes } from '../../../../shared/lab/work/distributions.ts';
import { seededRandom } from '../../../../shared/lab/kit/random.ts';
import { recordSource, type SampleRecord } from '../../../../shared/lab/work/records.ts';

export const RECORD_COUNT = 10_000;
const RECORD_BYTES = 500;

export class Sample {
  readonly #source = recordSource(1, RECORD_BYTES);
  readonly #draw = uniformIndexes(RECORD_COUNT, seededRandom(1));
  #round = 0;

  /** All records, in a text of their own each round. */
  records(): SampleRecord[] {
    this.#round += 1;
    return Array.from({ length: RECORD_COUNT }, (_, index) => this.#source(index, this.#round));
  }

  key(): string {
    return this.#source(this.#draw(), 0).key;
  }

  keys(count: number): string[] {
    const keys = new Set<string>();
    while (keys.size < count) keys.add(this.key());
    return [...keys];
  }

  /** A new text for a record that is there. */
  record(): SampleRecord {
    this.#round += 1;
    return this.#source(this.#draw(), this.#round);
  }
}

/** Work that did not do all it was to do must not be measured. Gives `expected`. */
export function handledAll(count: number, expected: number): number {
  if (count !== expected) throw new Error(`a contest handled ${count} of ${expected} records`);
  return count;
}
