// Rule 25: what an emulator or a custom endpoint really does, found out once before it is trusted with a condition.
import { randomBytes } from 'node:crypto';
import type { TableCalls } from './client.ts';
import { isConditionFailure } from './errors.ts';
import { partitionOf } from './mapping.ts';

/** Ids of probes begin with this; whatever is found under it may be removed. */
const PROBE_PREFIX = 'p~';

/** Undefined if the endpoint can be trusted, else what is wrong with it. Cost: six requests in turn. */
export async function probe(calls: TableCalls, timeoutMs: number): Promise<string | undefined> {
  const rowKey = `${PROBE_PREFIX}${randomBytes(12).toString('hex')}`;
  const partitionKey = partitionOf(rowKey);
  const merge = (etag: string) => calls.update({ partitionKey, rowKey, set: '2' }, 'Merge', etag, timeoutMs);
  const remove = (etag: string) => calls.delete(partitionKey, rowKey, etag, timeoutMs);

  const first = await calls.insert({ partitionKey, rowKey, kept: '1', set: '1' }, timeoutMs);
  const second = first === undefined ? undefined : await merge(first);
  if (first === undefined || second === undefined) return 'it tells no etags';
  const { properties } = await calls.get(partitionKey, rowKey, undefined, timeoutMs);
  if (properties['kept'] !== '1') return 'it loses properties in a merge';
  if (!(await refuses(merge(first))) || !(await refuses(remove(first)))) return 'it overwrites newer versions';
  await remove(second);
  return undefined;
}

async function refuses(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (error) {
    if (isConditionFailure(error)) return true;
    throw error;
  }
}
