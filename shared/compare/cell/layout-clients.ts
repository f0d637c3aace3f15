// What a caller of a cell does. A workload draws operations; a layout packs them into units, a unit being what is sent and answered as one.
// Workloads know no layout: the same seed gives every layout the same records and keys, so that layouts differ in how they store and nothing else.
import type { PutItem, Table } from '../../store/index.ts';
import type { Baseline, BaselineTable } from '../baseline/baseline.ts';
import { chunks } from '../data/chunks.ts';
import { uniformIndexes, zipfianIndexes } from '../data/keys.ts';
import { seededRandom } from '../data/random.ts';
import { type RecordFields, recordSource, type SampleRecord } from '../data/records.ts';
import { type CellRequest, LOAD_RECORDS_PER_CALL } from './cell.ts';

/** One operation as a user of the SDK or of the store would time it. */
export interface Unit {
  /** Records that it reads or writes. */
  readonly records: number;
  /** Resolves, when the reply has arrived, to the errors of the records that failed in it; rejects if all did. */
  send(): Promise<readonly unknown[]>;
}

/** What a caller does before it comes back for more: groups one after another, the units of a group in parallel. */
export type Call = Iterable<readonly Unit[]>;

export type Operation =
  | { readonly kind: 'read'; readonly key: string }
  /** Replaces a record that is there. */
  | { readonly kind: 'replace'; readonly record: SampleRecord }
  /** Creates a record that is not. */
  | { readonly kind: 'insert'; readonly record: SampleRecord };

/** One way of storing records: how many operations its callers hand over in a call, and how they are sent. */
export interface LayoutClient {
  recordsPerCall(workload: CellRequest['workload']): number;
  call(operations: readonly Operation[]): Call;
}

/** A read that finds nothing is a failure here: the records were put there before. */
class AbsentError extends Error {
  readonly code = 'absent';
}

const NO_ERRORS: readonly unknown[] = [];

/** The operations of a cell, drawn for ever. */
export function operationsOf(request: CellRequest): () => Operation {
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

/** One entity and one request a record, one after another. */
export function recordHandling(table: BaselineTable): LayoutClient {
  return {
    recordsPerCall: (workload) => (workload === 'load' ? LOAD_RECORDS_PER_CALL : 1),
    *call(operations) {
      for (const operation of operations) yield [{ records: 1, send: () => sendSingle(table, operation) }];
    },
  };
}

async function sendSingle(table: BaselineTable, operation: Operation): Promise<readonly unknown[]> {
  if (operation.kind === 'insert') await table.insert(operation.record);
  else if (operation.kind === 'replace') await table.replace(operation.record);
  else if (!(await table.get(operation.key))) throw new AbsentError(`absent: ${operation.key}`);
  return NO_ERRORS;
}

/**
 * One entity a record, the SDK's batches, all batches of a call in parallel. Where the provider has no batched get, a reader asks for
 * single records, one a call, and a mixed call is as large as one write batch.
 */
export function batchHandling(baseline: Baseline, table: BaselineTable): LayoutClient {
  return {
    recordsPerCall: (workload) => {
      if (workload === 'load' || baseline.getManyMax > 1) return LOAD_RECORDS_PER_CALL;
      return workload === 'read' ? 1 : baseline.putManyMax;
    },
    call: (operations) => [[...readBatches(baseline, table, operations), ...writeBatches(baseline, table, operations)]],
  };
}

function readBatches(baseline: Baseline, table: BaselineTable, operations: readonly Operation[]): Unit[] {
  const keys = new Set<string>();
  for (const operation of operations) if (operation.kind === 'read') keys.add(operation.key);
  return chunks([...keys], baseline.getManyMax).map((some) => ({
    records: some.length,
    send: async () => {
      const found = baseline.getManyMax === 1 ? Number(await table.get(some[0]!)) : await table.getMany(some);
      return Array.from({ length: some.length - found }, () => new AbsentError('absent'));
    },
  }));
}

function writeBatches(baseline: Baseline, table: BaselineTable, operations: readonly Operation[]): Unit[] {
  const lanes = new Map<string, Map<string, SampleRecord>>();
  for (const operation of operations) {
    if (operation.kind === 'read') continue;
    const lane = baseline.lane(operation.record.key);
    if (!lanes.has(lane)) lanes.set(lane, new Map());
    lanes.get(lane)!.set(operation.record.key, operation.record);
  }
  const batches = [...lanes.values()].flatMap((lane) => chunks([...lane.values()], baseline.putManyMax));
  return batches.map((records) => ({
    records: records.length,
    send: async () => {
      await table.putMany(records);
      return NO_ERRORS;
    },
  }));
}

/** This store: `putMany` for what is handed over together, strong `get` and `put` for single records. */
export function containerHandling(table: Table<RecordFields>): LayoutClient {
  return {
    recordsPerCall: (workload) => (workload === 'load' ? LOAD_RECORDS_PER_CALL : 1),
    call: (operations) => [
      operations.length === 1 ? [containerUnit(table, operations[0]!)] : [containerBatch(table, operations)],
    ],
  };
}

function containerUnit(table: Table<RecordFields>, operation: Operation): Unit {
  const send = async (): Promise<readonly unknown[]> => {
    if (operation.kind === 'read') {
      const entry = await table.get(operation.key);
      return entry === undefined ? [new AbsentError(`absent: ${operation.key}`)] : NO_ERRORS;
    }
    const ifAbsent = operation.kind === 'insert' ? { ifAbsent: true } : {};
    await table.put(operation.record.key, operation.record.fields, ifAbsent);
    return NO_ERRORS;
  };
  return { records: 1, send };
}

/** Unconditional, as the baselines' batches are. */
function containerBatch(table: Table<RecordFields>, operations: readonly Operation[]): Unit {
  const items: PutItem<RecordFields>[] = [];
  for (const operation of operations)
    if (operation.kind !== 'read') items.push({ key: operation.record.key, value: operation.record.fields });
  const send = async (): Promise<readonly unknown[]> => {
    const outcomes = await table.putMany(items);
    const errors: unknown[] = [];
    for (const outcome of outcomes) if (outcome.status === 'failed') errors.push(outcome.error);
    return errors;
  };
  return { records: items.length, send };
}
