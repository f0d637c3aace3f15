// Tries base versions and masks (rule 25), without which an endpoint loses writes or parts.
import type { Refused } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { refused } from '../common/driver-outcomes.ts';
import { drawProbeId, isRefused } from '../common/probe.ts';
import type { DatastoreCalls } from './datastore-calls.ts';
import { isConditionFailure } from './datastore-errors.ts';
import { keyOf, type KeySpace } from './entity-mapping.ts';
import type { Mutation } from './messages/messages.ts';

export interface Abilities {
  readonly kind: 'trusted';
  /** A masked update keeps the properties outside the mask. */
  readonly honoursMasks: boolean;
}

/** The service itself needs no probe. */
export const SERVICE: Abilities = { kind: 'trusted', honoursMasks: true };

const OVERWRITES = 'this endpoint overwrites newer versions: it cannot hold a store, use another';

/** Cost: six requests in turn. Rejects with the client's error unless it is a refusal. */
export async function probe(calls: DatastoreCalls, space: KeySpace, timeoutMs: number): Promise<Abilities | Refused> {
  const key = keyOf(space, drawProbeId());
  const send = async (mutation: Mutation) => (await calls.commit([mutation], timeoutMs)).mutationResults[0]?.version;
  const refuses = (mutation: Mutation) => isRefused(send(mutation), isConditionFailure);

  const first = await send({ insert: { key, properties: { kept: value('1'), set: value('1') } } });
  const patch = { update: { key, properties: { set: value('2') } }, propertyMask: ['set'] };
  const second = await send({ ...patch, ...at(first) });
  const { found } = await calls.lookup([key], undefined, timeoutMs);
  const honoursMasks = found?.[0]?.entity?.properties?.['kept'] !== undefined;
  const refusesStale = (await refuses({ ...patch, ...at(first) })) && (await refuses({ delete: key, ...at(first) }));
  if (!refusesStale) return refused('invalid', new Error(OVERWRITES));
  await send({ delete: key, ...at(second) });
  return { kind: 'trusted', honoursMasks };
}

function value(text: string) {
  return { stringValue: text, excludeFromIndexes: true };
}

function at(baseVersion: string | undefined) {
  if (baseVersion === undefined) throw new StoreError('unavailable', 'datastore told no version, try again');
  return { baseVersion, conflictResolutionStrategy: 'FAIL' as const };
}
