// The operations of a workload, which knows no layout: the same seed gives every layout the same keys in the same order.
import { LOAD_RECORDS_PER_CALL } from '../../work/workloads.ts';
import { keyIndexes } from '../../work/distributions.ts';
import { CHANCE, sourceOf } from '../time/chance.ts';
import type { KeyChoice, ModelWorkload } from './dimensions.ts';

/** What a caller does: one record, or 500 new ones. */
export interface Operation {
  readonly kind: 'read' | 'put' | 'modify' | 'load';
  /** Of the record; of the first of many. */
  readonly index: number;
  /** Which text it gets, so that writes change something. */
  readonly round: number;
}

export interface WorkOptions {
  readonly workload: ModelWorkload;
  readonly keys: KeyChoice;
  /** In the table before anything is measured. */
  readonly records: number;
  readonly seed: number;
}

/** Draws operations without end. */
export function operationSource({ workload, keys, records, seed }: WorkOptions): () => Operation {
  let round = 0;
  if (workload === 'load') return () => ({ kind: 'load', index: records + LOAD_RECORDS_PER_CALL * round++, round });
  const draw = indexSource(keys, records, seed);
  if (workload !== 'update') return () => ({ kind: workload, index: draw(), round: ++round });
  const coin = sourceOf(seed, CHANCE.keys, 1);
  return () => ({ kind: coin() < 0.5 ? 'read' : 'put', index: draw(), round: ++round });
}

function indexSource(keys: KeyChoice, records: number, seed: number): () => number {
  const random = sourceOf(seed, CHANCE.keys, 0);
  if (keys !== 'one') return keyIndexes(keys, { count: () => records, insertsExpected: 0 }, random);
  const one = Math.floor(random() * records);
  return () => one;
}
