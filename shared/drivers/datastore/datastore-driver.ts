// Cloud Datastore. Every change has a baseVersion and FAIL, because all other ways of resolving a
// conflict overwrite silently.
import type {
  Driver,
  DriverLimits,
  Entity,
  EntityId,
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
import { fitsAlone, refused, unknown } from '../common/driver-outcomes.ts';
import { drawProbeId, isRefused, probeOnce, probeRemoved, unfit, unlessRemoved } from '../common/probe.ts';
import type { DatastoreCalls } from './datastore-calls.ts';
import { isConditionFailure, outcomeOfMany, outcomeOfOne, readError } from './datastore-errors.ts';
import { entityOf, idOf, keyOf, type KeySpace, maskOf, partsOf, propertyOf } from './entity-mapping.ts';
import type { EntityResult, LookupResponse, Mutation, MutationResult } from './messages/messages.ts';

/** Sorts behind every character of an id. */
const AFTER_ALL_IDS = '\x7f';

/** With `doubtful` it probes the endpoint before it sends the first condition. */
export function driverOn(
  calls: DatastoreCalls,
  { space, limits, doubtful }: { space: KeySpace; limits: DriverLimits; doubtful: boolean },
): Driver {
  const obstacle = doubtful
    ? probeOnce((timeoutMs) => probe(calls, space, timeoutMs), readError)
    : async () => undefined;
  let closing: Promise<void> | undefined;

  async function send(mutations: readonly Mutation[], timeoutMs: number) {
    try {
      return outcomesOf(await calls.commit(mutations, timeoutMs), mutations.length);
    } catch (error) {
      const isLone = mutations.length === 1;
      return mutations.map(({ insert }) => (isLone ? outcomeOfOne(error, insert !== undefined) : outcomeOfMany(error)));
    }
  }

  return {
    limits,

    async read(requests, { timeoutMs }) {
      const whole = requests.filter(({ parts }) => parts === 'all');
      const inPart = requests.filter(({ parts }) => parts !== 'all');
      const isMixed = whole.length > 0 && inPart.length > 0;
      // Two lookups at once if some are wanted whole and others in part, as a lookup has one mask.
      const groups = isMixed ? [whole, inPart] : [requests];
      const found = await Promise.all(groups.map((group) => lookup(calls, space, group, timeoutMs)));
      return requests.map((request) => toEntity(request, found.find((one) => one.has(request.id))?.get(request.id)));
    },

    async write(writes, { timeoutMs }) {
      const tooLarge = writes.some((write) => write.kind !== 'patch' && !fitsAlone(write.parts, limits));
      if (tooLarge) return writes.map(() => (writes.length === 1 ? refused('limit') : unknown('other')));
      const stop = writes.some(({ kind }) => kind !== 'insert') ? await obstacle(timeoutMs) : undefined;
      if (stop !== undefined) return writes.map(() => stop);
      const mutations = writes.map((write) => mutationOf(space, write));
      return send(mutations, timeoutMs);
    },

    async remove(removals, { timeoutMs }) {
      const stop = await obstacle(timeoutMs);
      if (stop !== undefined) return removals.map(() => stop);
      const mutations = removals.map((removal) => deletionOf(space, removal));
      const outcomes = await send(mutations, timeoutMs);
      return outcomes.map((outcome): RemoveOutcome => (outcome.kind === 'written' ? { kind: 'removed' } : outcome));
    },

    async list(prefix, cursor, count, { timeoutMs }) {
      return list(calls, space, { prefix, cursor, count, timeoutMs });
    },

    close: () => (closing ??= calls.close()),
  };
}

/** The results of lookups; undefined for a missing entity. */
type Found = Map<EntityId, EntityResult | undefined>;

/** Asks again for keys that a reply leaves out. Tolerates one failure after each progress. */
async function lookup(
  calls: DatastoreCalls,
  space: KeySpace,
  requests: readonly ReadRequest[],
  timeoutMs: number,
): Promise<Found> {
  const found: Found = new Map();
  const mask = requests[0]?.parts === 'all' ? undefined : maskOf(requests);
  const untilMs = performance.now() + timeoutMs;
  let hasProgress = false;
  for (let rest = requests; rest.length > 0;) {
    const keys = rest.map(({ id }) => keyOf(space, id));
    try {
      note(found, await calls.lookup(keys, mask, Math.max(1, untilMs - performance.now())));
    } catch (error) {
      if (!hasProgress) throw readError(error);
    }
    const left = rest.filter(({ id }) => !found.has(id));
    if (!hasProgress && left.length === rest.length)
      throw new StoreError('unavailable', 'datastore told nothing of the keys, try again');
    hasProgress = left.length < rest.length;
    rest = left;
  }
  return found;
}

/** Ignores a result without a version, because a write could have no condition on it. */
function note(all: Found, { found = [], missing = [] }: LookupResponse): void {
  for (const key of missing) all.set(idOf(key), undefined);
  for (const result of found) if (result.version !== undefined) all.set(idOf(result.entity?.key), result);
}

function toEntity({ id, parts }: ReadRequest, result: EntityResult | undefined): Entity | undefined {
  if (result === undefined) return undefined;
  return { id, version: result.version as EntityVersion, parts: partsOf(id, result.entity?.properties ?? {}, parts) };
}

function mutationOf(space: KeySpace, write: Write): Mutation {
  const entity = entityOf(space, write.id, write.parts);
  if (write.kind === 'insert') return { insert: entity };
  const conditional = { update: entity, baseVersion: write.version, conflictResolutionStrategy: 'FAIL' as const };
  if (write.kind === 'replace') return conditional;
  return { ...conditional, propertyMask: write.parts.map(({ name }) => propertyOf(write.id, name)) };
}

function deletionOf(space: KeySpace, { id, version }: Removal): Mutation {
  return { delete: keyOf(space, id), baseVersion: version, conflictResolutionStrategy: 'FAIL' };
}

function outcomesOf(results: readonly MutationResult[], count: number): readonly WriteOutcome[] {
  return Array.from({ length: count }, (_, index): WriteOutcome => {
    const result = results[index];
    // With FAIL a conflict is an error. A server that reports it here does not know FAIL.
    if (result?.version === undefined || result.conflictDetected === true) return unknown('other');
    return { kind: 'written', version: result.version as EntityVersion };
  });
}

async function list(
  calls: DatastoreCalls,
  space: KeySpace,
  page: { prefix: string; cursor: ListCursor | undefined; count: number; timeoutMs: number },
): Promise<ListPage> {
  const { prefix, cursor, count, timeoutMs } = page;
  const bound = (name: string) => keyOf(space, name as EntityId);
  const query = {
    kind: space.kind,
    limit: count,
    ...(prefix === '' ? {} : { range: [bound(prefix), bound(prefix + AFTER_ALL_IDS)] as const }),
    ...(cursor === undefined ? {} : { startCursor: Buffer.from(cursor, 'base64') }),
  };
  const found = calls.runQuery(space.namespace, query, timeoutMs);
  const { keys, moreResults, endCursor } = await found.catch((error: unknown) => Promise.reject(readError(error)));
  // An older emulator always promises more, so only a full or cut page has a next one.
  const more = moreResults === 'NOT_FINISHED' || (keys.length >= count && moreResults !== 'NO_MORE_RESULTS');
  return {
    ids: keys.map(idOf),
    cursor: more ? (Buffer.from(endCursor).toString('base64') as ListCursor) : undefined,
  };
}

/**
 * Tries base versions and masks at an emulator or a custom endpoint (rule 25), without which it
 * loses writes or parts. Gives the outcome of all writes if it cannot be trusted. Rejects with the
 * client's error unless it is a refusal. Cost: six requests in turn.
 */
async function probe(calls: DatastoreCalls, space: KeySpace, timeoutMs: number): Promise<Refused | undefined> {
  const key = keyOf(space, drawProbeId());
  const send = async (mutation: Mutation) => (await calls.commit([mutation], timeoutMs))[0]?.version;
  const refuses = (mutation: Mutation) => isRefused(send(mutation), isConditionFailure);

  const first = await send({ insert: { key, properties: { kept: value('1'), set: value('1') } } });
  const patch = { update: { key, properties: { set: value('2') } }, propertyMask: ['set'] };
  const second = await unlessRemoved(send({ ...patch, ...at(first) }), isConditionFailure);
  const { found } = await calls.lookup([key], undefined, timeoutMs);
  const properties = found?.[0]?.entity?.properties;
  if (properties === undefined) throw probeRemoved();
  if (properties['kept'] === undefined)
    return unfit(
      'it ignores masks, as `gcloud beta emulators datastore` does: start `gcloud emulators firestore` in Datastore mode',
    );
  const refusesStale = (await refuses({ ...patch, ...at(first) })) && (await refuses({ delete: key, ...at(first) }));
  if (!refusesStale) return unfit('it overwrites newer versions');
  await unlessRemoved(send({ delete: key, ...at(second) }), isConditionFailure);
  return undefined;
}

function value(text: string) {
  return { stringValue: text, excludeFromIndexes: true };
}

function at(baseVersion: string | undefined) {
  if (baseVersion === undefined) throw new StoreError('unavailable', 'datastore told no version, try again');
  return { baseVersion, conflictResolutionStrategy: 'FAIL' as const };
}
