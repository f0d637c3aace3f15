// What the stories of merging have in common: a world, a table of 10,000 records, writers, and figures with goals.
import type { Provider } from '../../kit/dimensions.ts';
import { memoryState } from '../../../drivers/memory/effects.ts';
import { type Dataset, datasetOf } from '../../cloud/run/datasets.ts';
import { modelledDriver } from '../../cloud/service/driver.ts';
import { recordSource } from '../../work/records.ts';
import { CHANCE, sourceOf } from '../../cloud/time/chance.ts';
import { type Seen, writeOn, type Writing } from './callers.ts';
import { MergingWorld, type OpenTable } from './world.ts';

export interface MergingFigure {
  readonly provider: Provider;
  readonly story: string;
  readonly figure: string;
  readonly value: number;
  /** Undefined: no goal, the figure explains others. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
}

export type Figures = Omit<MergingFigure, 'provider' | 'story'>[];

const RECORDS = 10_000;
const RECORD_BYTES = 500;
export const HOUR_MS = 3_600_000;
/** A vacuum of a hot table takes minutes, its wait included. */
export const VACUUM = { timeoutMs: HOUR_MS / 2 };

/** One story on one provider: a world, and a table of its own. */
export class Stage {
  readonly world: MergingWorld;
  readonly #seed: number;

  constructor(provider: Provider, seed: number) {
    this.world = new MergingWorld(provider, seed);
    this.#seed = seed;
  }

  dataset(): Promise<Dataset> {
    const { limits } = modelledDriver(this.world.service, memoryState());
    return datasetOf({ records: RECORDS, recordBytes: RECORD_BYTES, limits, seed: this.#seed });
  }

  write(on: readonly OpenTable[], { keyOf }: Dataset, asked: Pick<Writing, 'forMs' | 'thinkMs'>): Promise<Seen> {
    const random = sourceOf(this.#seed, CHANCE.keys, Math.floor(this.world.scheduler.nowMs));
    const source = recordSource(this.#seed, RECORD_BYTES);
    const { scheduler } = this.world;
    return writeOn(
      on.map(({ table }) => table),
      4,
      { scheduler, random, keyOf, source, records: RECORDS, ...asked },
    );
  }
}
