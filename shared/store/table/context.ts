// An open table, as its reader, its writer and its scans need it.
import type { CodecName, Order } from '../contract/options.ts';
import type { Engine } from '../engine/engine.ts';
import type { Deadlines } from '../io/deadline.ts';
import type { Admission } from './admission.ts';

export interface TableContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly isNew: boolean;
  readonly codec: CodecName;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}
