// A client for each layout: packs operations into requests to the baseline or the store.
import type { Table } from '../../store/index.ts';
import type { Baseline, BaselineTable } from './baseline.ts';
import { chunks } from '../kit/numbers.ts';
import type { RecordFields, SampleRecord } from './sample-records.ts';
import type { Operation } from './operation-source.ts';

/** One call of the SDK or of the store, timed as a whole as its user would time it. */
export interface Unit {
  /** How many records it reads or writes; a scan counts as one. */
  readonly records: number;
  /** Resolves to the errors of the records that failed; rejects if all did. */
  send(): Promise<readonly unknown[]>;
}

/** Groups are sent one after another, the units of a group in parallel. */
export type Call = Iterable<readonly Unit[]>;

/** Sends the operations that a caller hands over in a call, in the layout's way. */
export type LayoutClient = (operations: readonly Operation[]) => Call;

/** Sends a call, waits for all of it, and gives the errors of the records that failed. */
export async function sendCall(client: LayoutClient, operations: readonly Operation[]): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (const units of client(operations)) {
    const answers = units.length === 1 ? [await units[0]!.send()] : await Promise.all(units.map((unit) => unit.send()));
    errors.push(...answers.flat());
  }
  return errors;
}

/** A read that finds nothing is a failure here: the records were put there before. */
class AbsentError extends Error {
  readonly code = 'absent';
}

const NO_ERRORS: readonly unknown[] = [];

/** Gets of one call that are in flight at a time: more would queue on one connection. */
const READS_AT_ONCE = 25;

/** An entity and a request for each record: a call's writes in turn, 25 of its reads at once. */
export function recordClient(table: BaselineTable): LayoutClient {
  return function* (operations) {
    const units = operations.map((operation) => singleUnit(operation, () => sendSingle(table, operation)));
    const areReads = operations.every(({ kind }) => kind === 'read');
    yield* chunks(units, areReads ? READS_AT_ONCE : 1);
  };
}

/** A unit of one operation. */
function singleUnit(operation: Operation, send: () => Promise<void>): Unit {
  if (operation.kind !== 'insert') return { records: 1, send: async () => (await send(), NO_ERRORS) };
  return { records: 1, send: () => withOutcomes([operation], async () => (await send(), NO_ERRORS)) };
}

/** Sends, then tells each insert whether it succeeded. If one failed, all count as failed. */
async function withOutcomes(
  operations: readonly Operation[],
  send: () => Promise<readonly unknown[]>,
): Promise<readonly unknown[]> {
  let isDone = false;
  try {
    const errors = await send();
    isDone = errors.length === 0;
    return errors;
  } finally {
    for (const operation of operations) if (operation.kind === 'insert') operation.ended(isDone);
  }
}

type SingleName = 'insert' | 'replace' | 'modify' | 'get';

/** A call for each operation, as a baseline has it. False or undefined: the record is absent. */
type SingleTable = Pick<BaselineTable, 'range'> & {
  readonly [Name in SingleName]: (...asked: Parameters<BaselineTable[Name]>) => Promise<unknown>;
};

async function sendSingle(table: SingleTable, operation: Operation): Promise<void> {
  switch (operation.kind) {
    case 'insert':
      return void (await table.insert(operation.record));
    case 'update':
      return void (await table.replace(operation.record));
    case 'modify':
      return found(await table.modify(operation.record), operation.record.key);
    case 'scan':
      return found((await table.range(operation.from, operation.to, operation.count)) > 0, operation.from);
    case 'read':
      return found(await table.get(operation.key), operation.key);
    default:
      return operation satisfies never;
  }
}

function found(record: unknown, key: string): void {
  if (record === undefined || record === false) throw new AbsentError(`absent: ${key}`);
}

/** The SDK's batches; those of one call are sent in parallel. */
export function batchClient(baseline: Baseline, table: BaselineTable): LayoutClient {
  return (operations) => [[...readBatches(baseline, table, operations), ...writeBatches(baseline, table, operations)]];
}

function readBatches(baseline: Baseline, table: BaselineTable, operations: readonly Operation[]): Unit[] {
  return chunks(keysOf(operations), baseline.getManyMax).map((some) => ({
    records: some.length,
    send: async () => {
      const count = await table.getMany(some);
      return Array.from({ length: some.length - count }, () => new AbsentError('absent'));
    },
  }));
}

type Write = Extract<Operation, { kind: 'insert' | 'update' }>;

function writeBatches(baseline: Baseline, table: BaselineTable, operations: readonly Operation[]): Unit[] {
  const lanes = Map.groupBy(writesOf(operations), ({ record }) => baseline.lane(record.key));
  const batches = [...lanes.values()].flatMap((writes) => chunks(writes, baseline.putManyMax));
  return batches.map((writes) => {
    const records = writes.map(({ record }): SampleRecord => record);
    return {
      records: records.length,
      send: () => withOutcomes(writes, async () => (await table.putMany(records), NO_ERRORS)),
    };
  });
}

/** The last write of each key. */
function writesOf(operations: readonly Operation[]): Write[] {
  const writes = new Map<string, Write>();
  for (const operation of operations)
    if (operation.kind === 'insert' || operation.kind === 'update') writes.set(operation.record.key, operation);
  return [...writes.values()];
}

function keysOf(operations: readonly Operation[]): string[] {
  return [...new Set(operations.flatMap((operation) => (operation.kind === 'read' ? operation.key : [])))];
}

/** Sends a lone operation as a single call, several as one `getMany` and one `putMany`. */
export function containerClient(table: Table<RecordFields>): LayoutClient {
  const singles = singlesOf(table);
  return (operations) => {
    const [first] = operations;
    if (operations.length === 1) return [[singleUnit(first!, () => sendSingle(singles, first!))]];
    return [containerBatches(table, operations)];
  };
}

function singlesOf(table: Table<RecordFields>): SingleTable {
  return {
    insert: ({ key, fields }) => table.put(key, fields, { ifAbsent: true }),
    replace: ({ key, fields }) => table.put(key, fields),
    modify: ({ key, fields }) => table.update(key, (current) => current && fields),
    get: (key) => table.get(key),
    range: async (from, to, count) => {
      let records = 0;
      for await (const entry of table.scan({ from, to, limit: count })) records += Number(entry.key >= from);
      return records;
    },
  };
}

/** One unit of reads, one of unconditional writes, as in the baselines. Equal keys count once. */
function containerBatches(table: Table<RecordFields>, operations: readonly Operation[]): Unit[] {
  const keys = keysOf(operations);
  const items = writesOf(operations).map(({ record }) => ({ key: record.key, value: record.fields }));
  const read = async (): Promise<readonly unknown[]> =>
    (await table.getMany(keys)).flatMap((outcome) => {
      if (outcome.status === 'found') return [];
      return [outcome.status === 'failed' ? outcome.error : new AbsentError('absent')];
    });
  const write = async (): Promise<readonly unknown[]> => {
    const outcomes = await table.putMany(items);
    return outcomes.flatMap((outcome) => (outcome.status === 'failed' ? outcome.error : []));
  };
  return [
    { records: keys.length, send: read },
    { records: items.length, send: () => withOutcomes(operations, write) },
  ].filter(({ records }) => records > 0);
}
