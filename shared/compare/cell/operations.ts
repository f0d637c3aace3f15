// The operations of a workload, which knows no layout: the same seed gives every layout the same records and keys, so that layouts differ in how
// they store and in nothing else.
import { uniformIndexes, zipfianIndexes } from '../data/distributions.ts';
import { seededRandom } from '../data/random.ts';
import { recordSource, type SampleRecord } from '../data/records.ts';
import type { CellRequest } from './old-cell.ts';

/** What is done to one record. */
export type Operation =
  | { readonly kind: 'read'; readonly key: string }
  /** Replaces a record that is there. */
  | { readonly kind: 'replace'; readonly record: SampleRecord }
  /** Creates a record that is not. */
  | { readonly kind: 'insert'; readonly record: SampleRecord };

/** Draws the operations of a cell, one a call, without end. */
export function operationSource(request: CellRequest): () => Operation {
  const random = seededRandom(request.seed + 1);
  const source = recordSource(request.seed, request.recordBytes);
  let drawn = 0;
  if (request.workload === 'load') return () => ({ kind: 'insert', record: source(drawn++, 0) });
  if (request.workload === 'read') {
    const uniform = uniformIndexes(request.records, random);
    return () => ({ kind: 'read', key: source(uniform(), 0).key });
  }
  const zipfian = zipfianIndexes(request.records, random);
  return () => {
    const record = source(zipfian(), ++drawn);
    return random() < 0.5 ? { kind: 'read', key: record.key } : { kind: 'replace', record };
  };
}
