// Tries conditions and merges at an emulator or a custom endpoint (rule 25), which may lack them.
import type { EntityVersion, Refused } from '../../store/contract/driver.ts';
import { refused } from '../common/driver-outcomes.ts';
import { drawProbeId, isRefused } from '../common/probe.ts';
import type { TableCalls } from './table-calls.ts';
import { isConditionFailure } from './azure-errors.ts';
import { keysOf } from './row-keys.ts';

/** One byte each, in base64. */
const [BEFORE, AFTER] = ['AQ==', 'Ag=='] as const;

/** The outcome of all writes if the endpoint cannot be trusted. Cost: six requests in turn. */
export async function probe(calls: TableCalls, timeoutMs: number): Promise<Refused | undefined> {
  const fault = await faultOf(calls, () => performance.now() + timeoutMs);
  if (fault === undefined) return undefined;
  return refused('invalid', new Error(`this endpoint cannot hold a store, use another: ${fault}`));
}

async function faultOf(calls: TableCalls, untilMs: () => number): Promise<string | undefined> {
  const keys = keysOf(drawProbeId());
  const merge = (etag: EntityVersion) =>
    calls.write({ ...keys, properties: { set: [AFTER] }, change: { mode: 'Merge', etag } }, untilMs());
  const remove = (etag: EntityVersion) => calls.delete(keys, etag, untilMs());

  const first = await calls.write({ ...keys, properties: { kept: [BEFORE], set: [BEFORE] } }, untilMs());
  const second = first === undefined ? undefined : await merge(first);
  if (first === undefined || second === undefined) return 'it tells no etags';
  const { properties } = await calls.get(keys, undefined, untilMs());
  if (properties['kept'] !== BEFORE) return 'it loses properties in a merge';
  const isGuarded =
    (await isRefused(merge(first), isConditionFailure)) && (await isRefused(remove(first), isConditionFailure));
  if (!isGuarded) return 'it overwrites newer versions';
  await remove(second);
  return undefined;
}
