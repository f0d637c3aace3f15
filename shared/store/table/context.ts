// An open table, as its reader, its writer and its scans need it.
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
  /** The life of records that this handle creates; undefined: they do not expire. */
  readonly ttlMs: number | undefined;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}
