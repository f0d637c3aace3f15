// A client for each layout: packs the operations of a workload into requests, and sends them to the baseline or the store.
import type { PutItem, Table } from '../../store/index.ts';
import type { Baseline, BaselineTable } from '../baseline/baseline.ts';
import { chunks } from '../data/chunks.ts';
import type { RecordFields, SampleRecord } from '../data/records.ts';
import { type CellRequest, LOAD_RECORDS_PER_CALL } from './old-cell.ts';
import type { Operation } from './operations.ts';

/** One call of the SDK or of the store, sent and answered as one, as its user would time it. */
export interface Unit {
  /** How many records it reads or writes. */
  readonly records: number;
  /** Resolves, when the reply has arrived, to the errors of the records that failed in it; rejects if all did. */
  send(): Promise<readonly unknown[]>;
}

/** Groups of units, sent one group after another, the units of a group in parallel. Then the caller draws its next operations. */
export type Call = Iterable<readonly Unit[]>;

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

/** One entity and one request a record, one after another. */
export function recordClient(table: BaselineTable): LayoutClient {
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
export function batchClient(baseline: Baseline, table: BaselineTable): LayoutClient {
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
  const batches = [...lanes.values()].flatMap((records) => chunks([...records.values()], baseline.putManyMax));
  return batches.map((records) => ({
    records: records.length,
    send: async () => {
      await table.putMany(records);
      return NO_ERRORS;
    },
  }));
}

/** This store: `putMany` for what is handed over together, strong `get` and `put` for single records. */
export function containerClient(table: Table<RecordFields>): LayoutClient {
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
