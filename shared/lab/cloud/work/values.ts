// The records' values: the comparison's text, encoded beforehand, since encoding is in the processor's table and need not be done each time.
import { type RecordFields, recordSource } from '../../work/records.ts';

const TEXTS = 4_096;

/** The value of record `index`; each round gives another. */
export type ValueSource = (index: number, round: number) => Uint8Array;

const pools = new Map<string, readonly Uint8Array[]>();

/** Values of `recordBytes` bytes and four separators. They repeat after 4,096 records, far beyond the reach of a page's compression. */
export function valueSource(seed: number, recordBytes: number): ValueSource {
  const name = `${seed}/${recordBytes}`;
  let pool = pools.get(name);
  if (pool === undefined) {
    const source = recordSource(seed, recordBytes);
    pool = Array.from({ length: TEXTS }, (_, index) => encoded(source(index, 0).fields));
    pools.set(name, pool);
  }
  const values = pool;
  return (index, round) => values[(index + round * 31) % TEXTS]!;
}

function encoded(fields: RecordFields): Uint8Array {
  return Buffer.from(Object.values(fields).join('\n'));
}
