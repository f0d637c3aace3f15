// Azure Table Storage: an entity is a row. A partition's writes share an atomic transaction.
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
  Unknown,
  Write,
  WriteOutcome,
} from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { checkList, checkReads, checkRemovals, checkWrites } from '../common/contract-checks.ts';
import { fitsAlone, refused, unknown, withDeadline } from '../common/outcomes.ts';
import { probeOnce } from '../common/probe.ts';
import type { TableCalls } from './client.ts';
import { isNotFound, outcomeOfOne, outcomeOfProbe, outcomeOfTransaction, readError } from './errors.ts';
import {
  endOfPrefix,
  keysOf,
  LIMITS,
  PARTITION_COUNT,
  partitionAt,
  partsOf,
  propertiesOf,
  selectOf,
} from './mapping.ts';
import { probe } from './probe.ts';
import type { RowWrite } from './rows.ts';

/** With `doubtful` it probes the endpoint before it sends the first condition. */
export function driverOn(calls: TableCalls, doubtful: boolean): Driver {
  const mistrust = doubtful ? probeOnce((timeoutMs) => probe(calls, timeoutMs)) : () => undefined;

  return {
    limits: LIMITS,

    async read(requests, { timeoutMs }) {
      checkReads(requests, LIMITS);
      const [only] = requests;
      return [await readOne(calls, only!, timeoutMs)];
    },

    async write(writes, { timeoutMs }) {
      checkWrites(writes, LIMITS);
      const tooLarge = writes.some((write) => write.kind !== 'patch' && !fitsAlone(write.parts, LIMITS));
      if (tooLarge) return writes.map(() => (writes.length === 1 ? refused('limit') : unknown('other')));
      const conditional = writes.some(({ kind }) => kind !== 'insert');
      const stop = conditional ? await obstacle(mistrust, timeoutMs) : undefined;
      if (stop !== undefined) return writes.map(() => stop);
      const [only] = writes;
      if (writes.length === 1 && only !== undefined) return [await writeOne(calls, only, timeoutMs)];
      return writeTogether(calls, writes, timeoutMs);
    },

    async remove(removals, { timeoutMs }) {
      checkRemovals(removals, LIMITS);
      const stop = await obstacle(mistrust, timeoutMs);
      if (stop !== undefined) return removals.map(() => stop);
      return Promise.all(removals.map((removal) => removeOne(calls, removal, timeoutMs)));
    },

    async list(prefix, cursor, count, { timeoutMs }) {
      checkList(prefix, count, LIMITS);
      return listPage(calls, { prefix, cursor, count, timeoutMs });
    },

    async close() {
      calls.close();
    },
  };
}

/** The outcome of writes that must not be sent to this endpoint; undefined if they may. */
async function obstacle(
  mistrust: (timeoutMs: number) => string | undefined | Promise<string | undefined>,
  timeoutMs: number,
): Promise<Refused | Unknown | undefined> {
  try {
    const asked = mistrust(timeoutMs);
    // Awaits the first time only: a deadline a write would cost a timer and a race of promises.
    const why = asked instanceof Promise ? await withDeadline(asked, timeoutMs) : asked;
    if (why === undefined) return undefined;
    return refused('invalid', new Error(`this endpoint cannot hold a store, use another: ${why}`));
  } catch (error) {
    return outcomeOfProbe(error);
  }
}

async function readOne(calls: TableCalls, { id, parts }: ReadRequest, timeoutMs: number): Promise<Entity | undefined> {
  try {
    const { etag, properties } = await calls.get(keysOf(id), selectOf(parts), timeoutMs);
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
    return written(await calls.write(rowOf(write), timeoutMs));
  } catch (error) {
    return outcomeOfOne(error);
  }
}

async function writeTogether(
  calls: TableCalls,
  writes: readonly Write[],
  timeoutMs: number,
): Promise<readonly WriteOutcome[]> {
  try {
    const etags = await calls.submit(writes.map(rowOf), timeoutMs);
    return writes.map((_, index) => written(etags?.[index]));
  } catch (error) {
    return writes.map(() => outcomeOfTransaction(error));
  }
}

async function removeOne(calls: TableCalls, { id, version }: Removal, timeoutMs: number): Promise<RemoveOutcome> {
  try {
    await calls.delete(keysOf(id), version, timeoutMs);
    return { kind: 'removed' };
  } catch (error) {
    return outcomeOfOne(error);
  }
}

/** Partition by partition: a query across them scans. Cursor: number, `.`, the service's own. */
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
    const found = await calls.listPage(
      bounds.join(' and '),
      count,
      continuation === '' ? undefined : continuation,
      timeoutMs,
    );
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

/** A success without an etag cannot be built upon. */
function written(version: EntityVersion | undefined): WriteOutcome {
  return version === undefined || version === '' ? unknown('other') : { kind: 'written', version };
}
