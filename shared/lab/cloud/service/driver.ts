// The real driver's requests to a modelled service, with the memory driver's effects.
import {
  type Driver,
  type DriverLimits,
  type Entity,
  type EntityId,
  type ListCursor,
  type ListPage,
  partBytes,
  type ReadRequest,
  type Refused,
  type Removal,
  SILENCE_MS,
  type Unknown,
  type Write,
} from '../../../store/contract/driver.ts';
import { StoreError } from '../../../store/contract/errors.ts';
import { LIMITS as AZURE_LIMITS, PARTITION_COUNT, partitionAt } from '../../../drivers/azure-tables/mapping.ts';
import { checkList, checkReads, checkRemovals, checkWrites } from '../../../drivers/common/contract-checks.ts';
import { fitsAlone, refused, unknown } from '../../../drivers/common/outcomes.ts';
import { LIMITS as DATASTORE_LIMITS } from '../../../drivers/datastore/mapping.ts';
import { memoryEffects, type MemoryState } from '../../../drivers/memory/effects.ts';
import { type Access, type Describe, type ModelRequest, type Reply, ServiceFailure } from './request.ts';
import type { ModelledService } from './service.ts';

const KIND = 'Container';

/** Which requests a provider's driver makes of a call; the rest is the same for all. */
interface Shape {
  readonly limits: DriverLimits;
  partition(id: EntityId): string;
  /** Writes that share a request are applied all or none, and removals share none. */
  readonly isAtomic: boolean;
  groups(requests: readonly ReadRequest[]): readonly (readonly ReadRequest[])[];
}

const DATASTORE: Shape = {
  limits: DATASTORE_LIMITS,
  partition: () => KIND,
  isAtomic: false,
  // A lookup has one mask: entities wanted whole and in part are asked for side by side.
  groups: (requests) =>
    [requests.filter(isWhole), requests.filter((one) => !isWhole(one))].filter(({ length }) => length > 0),
};

const AZURE: Shape = {
  limits: AZURE_LIMITS,
  partition: (id) => AZURE_LIMITS.lane(id),
  isAtomic: true,
  groups: (requests) => requests.map((request) => [request]),
};

/** No I/O, no timer: the service waits. Outcomes and errors are the real driver's. */
export function modelledDriver(service: ModelledService, state: MemoryState): Driver {
  const shape = service.parameters.data.provider === 'azure-tables' ? AZURE : DATASTORE;
  const { limits } = shape;
  const effects = memoryEffects(state, limits);
  const calls = new Calls(service);

  const accessTo = (id: EntityId, kind: Access['kind'], bytes = 0): Access => {
    return { id, partition: shape.partition(id), kind, bytes };
  };

  async function readGroup(group: readonly ReadRequest[], timeoutMs: number) {
    const accesses = group.map(({ id }) => accessTo(id, 'read'));
    const kind = group.length === 1 ? 'get' : 'getMany';
    return calls.ask({ kind, accesses, timeoutMs }, () => effects.read(group), describeRead);
  }

  async function write(writes: readonly Write[], timeoutMs: number) {
    const tooLarge = writes.some((write) => write.kind !== 'patch' && !fitsAlone(write.parts, limits));
    if (tooLarge) return writes.map(() => (writes.length === 1 ? refused('limit') : unknown('other')));
    const accesses = writes.map((write) => accessTo(write.id, 'write', partBytes(write.parts)));
    const isTogether = shape.isAtomic && writes.length > 1;
    const apply = isTogether ? () => effects.writeTogether(writes) : () => effects.write(writes);
    const kind = isTogether ? 'transaction' : 'commit';
    const isLone = writes.length === 1 && writes[0]!.kind !== 'insert';
    const outcomes = await calls.change({ kind, accesses, timeoutMs }, isLone, apply);
    // Only of a condition does a transaction's failure say that no other member was applied.
    return isTogether ? outcomes.map((one) => (isOtherRefusal(one) ? unknown('other', one.cause) : one)) : outcomes;
  }

  async function remove(removals: readonly Removal[], timeoutMs: number) {
    const accesses = removals.map(({ id }) => accessTo(id, 'delete'));
    const request: ModelRequest = { kind: 'commit', accesses, timeoutMs };
    return calls.change(request, removals.length === 1, () => effects.remove(removals));
  }

  return {
    limits,
    async read(requests, { timeoutMs }) {
      checkReads(requests, limits);
      const groups = shape.groups(requests);
      if (groups.length === 1) return readGroup(groups[0]!, timeoutMs);
      const found = (await Promise.all(groups.map((group) => readGroup(group, timeoutMs)))).flat();
      const byId = new Map(found.map((entity) => [entity?.id, entity]));
      return requests.map(({ id }) => byId.get(id));
    },
    async write(writes, { timeoutMs }) {
      checkWrites(writes, limits);
      return write(writes, timeoutMs);
    },
    async remove(removals, { timeoutMs }) {
      checkRemovals(removals, limits);
      if (!shape.isAtomic) return remove(removals, timeoutMs);
      return (await Promise.all(removals.map((removal) => remove([removal], timeoutMs)))).flat();
    },
    async list(prefix, cursor, count, { timeoutMs }) {
      checkList(prefix, count, limits);
      if (!shape.isAtomic) {
        const page = { prefix, after: cursor ?? '', count };
        return calls.ask(listRequest(KIND, timeoutMs), () => effects.list(page), describePage);
      }
      const { partition, after } = placeOf(cursor);
      const name = partitionAt(partition);
      const page = { prefix, after, count, isListed: (id: EntityId) => limits.lane(id) === name };
      const found = await calls.ask(listRequest(name, timeoutMs), () => effects.list(page), describePage);
      return { ids: found.ids, cursor: nextPlace(partition, found) };
    },
    async close() {
      calls.isClosed = true;
    },
  };
}

/** Sends, and puts failures into the contract's words. */
class Calls {
  readonly #service: ModelledService;
  isClosed = false;

  constructor(service: ModelledService) {
    this.#service = service;
  }

  async ask<T>(request: ModelRequest, effect: () => T, describe: Describe<T>): Promise<T> {
    if (this.isClosed) throw new StoreError('unavailable', 'the driver is closed, open another', { retryable: false });
    try {
      // A modelled reply comes in one piece: until then there is silence.
      const timeoutMs = Math.min(request.timeoutMs, SILENCE_MS);
      return await this.#service.send({ ...request, timeoutMs }, effect, describe);
    } catch (cause) {
      const code = isThrottled(cause) ? 'throttled' : 'unavailable';
      throw new StoreError(code, 'the request failed, try again', { cause });
    }
  }

  /** `isLone`: of one update or removal, which was not applied if it is given up for a lock. */
  async change<O extends { readonly kind: string }>(
    request: ModelRequest,
    isLone: boolean,
    effect: () => readonly O[],
  ): Promise<readonly (O | Refused | Unknown)[]> {
    if (this.isClosed) return request.accesses.map(() => unknown('other'));
    try {
      return await this.#service.send(request, effect, describeOutcomes);
    } catch (error) {
      if (!(error instanceof ServiceFailure)) throw error;
      if (isLone && error.code === 'contended') return [refused('condition', error)];
      return request.accesses.map(() => unknown(isThrottled(error) ? 'throttled' : 'other', error));
    }
  }
}

function isWhole({ parts }: ReadRequest): boolean {
  return parts === 'all';
}

function describeRead(entities: readonly (Entity | undefined)[], reply: Reply): void {
  for (const entity of entities)
    if (entity !== undefined) for (const part of entity.parts.values()) reply.bytes += part.length;
}

/** The reply to a request that was refused, in whole or in part. */
function describeOutcomes(outcomes: readonly { readonly kind: string }[], reply: Reply): void {
  reply.isRefused = outcomes.some(({ kind }) => kind === 'refused' || kind === 'unknown');
}

function describePage({ ids }: ListPage, reply: Reply): void {
  reply.entities = ids.length;
  for (const id of ids) reply.bytes += id.length;
}

function isThrottled(error: unknown): boolean {
  return error instanceof ServiceFailure && error.code === 'throttled';
}

function isOtherRefusal(outcome: { readonly kind: string }): outcome is Refused {
  return outcome.kind === 'refused' && (outcome as Refused).reason !== 'condition';
}

function listRequest(partition: string, timeoutMs: number): ModelRequest {
  return { kind: 'list', accesses: [{ id: '', partition, kind: 'read', bytes: 0 }], timeoutMs };
}

/** Azure is listed partition after partition. The cursor: its number, a space, the last id. */
function placeOf(cursor: ListCursor | undefined): { readonly partition: number; readonly after: string } {
  const [number = '0', after = ''] = (cursor ?? '0').split(' ', 2);
  return { partition: Number(number), after };
}

function nextPlace(partition: number, { cursor }: ListPage): ListCursor | undefined {
  if (cursor !== undefined) return `${partition} ${cursor}` as ListCursor;
  return partition + 1 < PARTITION_COUNT ? (String(partition + 1) as ListCursor) : undefined;
}
