// What a table's reader, writer and scans need of it.
import type { CodecName, Order } from '../contract/options.ts';
import type { StandardSchema } from '../contract/standard-schema.ts';
import type { Engine } from '../engine/engine.ts';
import type { Deadlines } from '../io/deadline.ts';
import type { Admission } from './admission.ts';

export interface TableContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly groupBy: string | undefined;
  readonly isNew: boolean;
  readonly codec: CodecName;
  readonly schema: StandardSchema | undefined;
  /** After how long records that this handle creates expire; undefined: never. */
  readonly ttlMs: number | undefined;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}
