// Azure Table Storage: an entity is a row, and writes of a partition share an atomic transaction.
import type {
  Driver,
  Entity,
  EntityVersion,
  ListCursor,
  ListPage,
  ReadRequest,
  Refused,
  Removal,
  RemoveOutcome,
  Write,
  WriteOutcome,
} from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { fitsAlone, refused, unknown, withDeadline } from '../common/driver-outcomes.ts';
import { drawProbeId, isRefused, probeOnce, unfit, unlessRemoved } from '../common/probe.ts';
import type { RowWrite, TableCalls } from './table-calls.ts';
import {
  isConditionFailure,
  isNotFound,
  isTableNotFound,
  isTableThere,
  outcomeOfOne,
  outcomeOfTransaction,
  readError,
} from './azure-errors.ts';
import {
  endOfPrefix,
  keysOf,
  LIMITS,
  PARTITION_COUNT,
  partitionAt,
  partsOf,
  propertiesOf,
  selectOf,
} from './row-keys.ts';

/** With `doubtful` it probes the endpoint before it sends the first condition. */
export function driverOn(single: TableCalls, doubtful: boolean, address = ''): Driver {
  const calls = creatingTable(single);
  const obstacle = doubtful ? probeOnce((timeoutMs) => probe(calls, timeoutMs), readError) : async () => undefined;

  return {
    limits: { ...LIMITS, address },

    async read(requests, { timeoutMs }) {
      return [await readOne(calls, requests[0]!, timeoutMs)];
    },

    async write(writes, { timeoutMs }) {
      const tooLarge = writes.some((write) => write.kind !== 'patch' && !fitsAlone(write.parts, LIMITS));
      if (tooLarge) return writes.map(() => (writes.length === 1 ? refused('limit') : unknown('other')));
      const stop = writes.some(({ kind }) => kind !== 'insert') ? await obstacle(timeoutMs) : undefined;
      if (stop !== undefined) return writes.map(() => stop);
      return writes.length === 1
        ? [await writeOne(calls, writes[0]!, timeoutMs)]
        : writeTogether(calls, writes, timeoutMs);
    },

    async remove(removals, { timeoutMs }) {
      const stop = await obstacle(timeoutMs);
      if (stop !== undefined) return removals.map(() => stop);
      return Promise.all(removals.map((removal) => removeOne(calls, removal, timeoutMs)));
    },

    async list(prefix, cursor, count, { timeoutMs }) {
      return listPage(calls, { prefix, cursor, count, timeoutMs });
    },

    async close() {
      calls.close();
    },
  };
}

async function readOne(calls: TableCalls, { id, parts }: ReadRequest, timeoutMs: number): Promise<Entity | undefined> {
  try {
    const { etag, properties } = await calls.get(keysOf(id), selectOf(parts), endMs(timeoutMs));
    if (etag === undefined || etag === '')
      throw new StoreError('unavailable', 'azure told no version', { container: id });
    return { id, version: etag, parts: partsOf(properties, parts) };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw readError(error);
  }
}

async function writeOne(calls: TableCalls, write: Write, timeoutMs: number): Promise<WriteOutcome> {
  try {
    return written(await calls.write(rowOf(write), endMs(timeoutMs)));
  } catch (error) {
    return outcomeOfOne(error, write.kind === 'insert');
  }
}

async function writeTogether(
  calls: TableCalls,
  writes: readonly Write[],
  timeoutMs: number,
): Promise<readonly WriteOutcome[]> {
  try {
    const etags = await calls.submit(writes.map(rowOf), endMs(timeoutMs));
    return writes.map((_, index) => written(etags?.[index]));
  } catch (error) {
    return writes.map(() => outcomeOfTransaction(error));
  }
}

async function removeOne(calls: TableCalls, { id, version }: Removal, timeoutMs: number): Promise<RemoveOutcome> {
  try {
    await calls.delete(keysOf(id), version, endMs(timeoutMs));
    return { kind: 'removed' };
  } catch (error) {
    return outcomeOfOne(error);
  }
}

/**
 * Lists partition by partition, because a query across them would scan the table. A cursor is the
 * partition's number, `.`, and the service's own cursor.
 */
async function listPage(
  calls: TableCalls,
  page: { prefix: string; cursor: ListCursor | undefined; count: number; timeoutMs: number },
): Promise<ListPage> {
  const { prefix, cursor, count, timeoutMs } = page;
  const [number = '0', ...rest] = (cursor ?? '0').split('.');
  const [partition, continuation] = [Number(number), rest.join('.')];
  const end = endOfPrefix(prefix);
  const bounds = [
    `PartitionKey eq '${partitionAt(partition)}'`,
    ...(prefix === '' ? [] : [`RowKey ge '${prefix}'`]),
    ...(end === undefined ? [] : [`RowKey lt '${end}'`]),
  ];
  try {
    const found = await calls.listPage(bounds.join(' and '), count, continuation || undefined, endMs(timeoutMs));
    const ids = found.rowKeys.filter((id) => id.startsWith(prefix));
    if (found.continuation !== undefined) return { ids, cursor: `${partition}.${found.continuation}` as ListCursor };
    return { ids, cursor: partition + 1 < PARTITION_COUNT ? (String(partition + 1) as ListCursor) : undefined };
  } catch (error) {
    throw readError(error);
  }
}

function rowOf(write: Write): RowWrite {
  const row = { ...keysOf(write.id), properties: propertiesOf(write) };
  if (write.kind === 'insert') return row;
  return { ...row, change: { mode: write.kind === 'patch' ? 'Merge' : 'Replace', etag: write.version } };
}

/** A success without an etag is `unknown`, because the next write would lack its condition. */
function written(version: EntityVersion | undefined): WriteOutcome {
  return version === undefined || version === '' ? unknown('other') : { kind: 'written', version };
}

function endMs(timeoutMs: number): number {
  return performance.now() + timeoutMs;
}

/** If the table is missing, it is created and the call, which had no effect, is sent again. */
function creatingTable(calls: TableCalls): TableCalls {
  let creating: Promise<void> | undefined;
  const send = async <T>(untilMs: number, request: () => Promise<T>): Promise<T> => {
    try {
      return await request();
    } catch (error) {
      if (!isTableNotFound(error)) throw error;
    }
    creating ??= created(calls.createTable(untilMs)).finally(() => (creating = undefined));
    await withDeadline(creating, untilMs - performance.now());
    return request();
  };
  return {
    ...calls,
    get: (keys, select, untilMs) => send(untilMs, () => calls.get(keys, select, untilMs)),
    write: (write, untilMs) => send(untilMs, () => calls.write(write, untilMs)),
    delete: (keys, etag, untilMs) => send(untilMs, () => calls.delete(keys, etag, untilMs)),
    submit: (writes, untilMs) => send(untilMs, () => calls.submit(writes, untilMs)),
    listPage: (filter, count, from, untilMs) => send(untilMs, () => calls.listPage(filter, count, from, untilMs)),
  };
}

/** It is no error if another process has created the table meanwhile. */
async function created(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isTableThere(error)) throw error;
  }
}

/** One byte each, in base64. */
const [BEFORE, AFTER] = ['AQ==', 'Ag=='] as const;

/**
 * Tries conditions and merges at an emulator or a custom endpoint (rule 25), which may lack them.
 * Gives the outcome of all writes if it cannot be trusted. Cost: six requests in turn.
 */
async function probe(calls: TableCalls, timeoutMs: number): Promise<Refused | undefined> {
  const untilMs = endMs(timeoutMs);
  const keys = keysOf(drawProbeId());
  const merge = (etag: EntityVersion) =>
    calls.write({ ...keys, properties: { set: [AFTER] }, change: { mode: 'Merge', etag } }, untilMs);
  const remove = (etag: EntityVersion) => calls.delete(keys, etag, untilMs);

  const first = await calls.write({ ...keys, properties: { kept: [BEFORE], set: [BEFORE] } }, untilMs);
  const second = first === undefined ? undefined : await unlessRemoved(merge(first), isConditionFailure);
  if (first === undefined || second === undefined) return unfit('it tells no etags');
  const { properties } = await unlessRemoved(calls.get(keys, undefined, untilMs), isConditionFailure);
  if (properties['kept'] !== BEFORE) return unfit('it loses properties in a merge');
  const refusesStale =
    (await isRefused(merge(first), isConditionFailure)) && (await isRefused(remove(first), isConditionFailure));
  if (!refusesStale) return unfit('it overwrites newer versions');
  await unlessRemoved(remove(second), isConditionFailure);
  return undefined;
}
