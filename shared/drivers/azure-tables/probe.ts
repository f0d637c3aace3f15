// Tries conditions and merges at an emulator or a custom endpoint (rule 25).
import type { EntityVersion } from '../../store/contract/driver.ts';
import { drawProbeId } from '../common/probe.ts';
import type { TableCalls } from './client.ts';
import { isConditionFailure } from './errors.ts';
import { keysOf } from './mapping.ts';

/** One byte each, in base64. */
const [BEFORE, AFTER] = ['AQ==', 'Ag=='] as const;

/** Undefined if the endpoint can be trusted, else its fault. Cost: six requests in turn. */
export async function probe(calls: TableCalls, timeoutMs: number): Promise<string | undefined> {
  const keys = keysOf(drawProbeId());
  const merge = (etag: EntityVersion) =>
    calls.write({ ...keys, properties: { set: [AFTER] }, change: { mode: 'Merge', etag } }, timeoutMs);
  const remove = (etag: EntityVersion) => calls.delete(keys, etag, timeoutMs);

  const first = await calls.write({ ...keys, properties: { kept: [BEFORE], set: [BEFORE] } }, timeoutMs);
  const second = first === undefined ? undefined : await merge(first);
  if (first === undefined || second === undefined) return 'it tells no etags';
  const { properties } = await calls.get(keys, undefined, timeoutMs);
  if (properties['kept'] !== BEFORE) return 'it loses properties in a merge';
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
