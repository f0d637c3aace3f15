// A driver over a modelled service: the memory driver's effects at the service's moments, with the limits and the requests of the real
// driver of that provider. Instances that share a state and a service are processes that share a database.
import {
  type Driver,
  type DriverLimits,
  type EntityId,
  partBytes,
  type Refused,
  type Unknown,
  type Write,
  type WriteOutcome,
} from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { LIMITS as AZURE_LIMITS } from '../../drivers/azure-tables/mapping.ts';
import { checkList, checkReads, checkRemovals, checkWrites } from '../../drivers/common/contract-checks.ts';
import { unknown } from '../../drivers/common/outcomes.ts';
import { LIMITS as DATASTORE_LIMITS } from '../../drivers/datastore/mapping.ts';
import { type MemoryEffects, memoryEffects, type MemoryState } from '../../drivers/memory.ts';
import { type Access, type ModelRequest, ServiceFailure } from './request.ts';
import type { ModelledService } from './service.ts';

/** The kind of all entities on Datastore. */
const KIND = 'Container';

/** No I/O, no timer: all waiting is the service's. */
export function modelledDriver(service: ModelledService, state: MemoryState): Driver {
  const isAzure = service.parameters.data.provider === 'azure-tables';
  const limits: DriverLimits = isAzure ? AZURE_LIMITS : DATASTORE_LIMITS;
  const effects: MemoryEffects = memoryEffects(state, limits);
  let isClosed = false;

  const partition = (id: EntityId): string => (isAzure ? limits.lane(id) : KIND);
  const access = (id: EntityId, kind: Access['kind'], bytes: number): Access => ({
    id,
    partition: partition(id),
    kind,
    bytes,
  });

  async function change<O>(request: ModelRequest, effect: () => readonly O[]): Promise<readonly (O | Unknown)[]> {
    if (isClosed) return request.accesses.map(() => unknown('other'));
    try {
      return await service.send(request, effect);
    } catch (error) {
      const reason = error instanceof ServiceFailure && error.failure === 'throttled' ? 'throttled' : 'other';
      return request.accesses.map(() => unknown(reason, error));
    }
  }

  async function ask<T>(request: ModelRequest, effect: () => T): Promise<T> {
    if (isClosed) throw new StoreError('unavailable', 'the driver is closed, open another', { retryable: false });
    try {
      return await service.send(request, effect);
    } catch (error) {
      const isThrottled = error instanceof ServiceFailure && error.failure === 'throttled';
      throw new StoreError(isThrottled ? 'throttled' : 'unavailable', 'the request failed, try again', {
        cause: error,
      });
    }
  }

  return {
    limits,
    async read(requests, { timeoutMs }) {
      checkReads(requests, limits);
      const accesses = requests.map(({ id }) => access(id, 'read', 0));
      const kind = requests.length === 1 ? 'get' : 'getMany';
      return ask({ kind, accesses, timeoutMs }, () => effects.read(requests));
    },
    async write(writes, { timeoutMs }) {
      checkWrites(writes, limits);
      const copies = writes.map(copyOf);
      const accesses = writes.map((write) => access(write.id, 'write', partBytes(write.parts)));
      const kind = isAzure && writes.length > 1 ? 'transaction' : 'commit';
      return change<WriteOutcome>({ kind, accesses, timeoutMs }, () => effects.write(copies));
    },
    async remove(removals, { timeoutMs }) {
      checkRemovals(removals, limits);
      const accesses = removals.map(({ id }) => access(id, 'delete', 0));
      return change<{ readonly kind: 'removed' } | Refused | Unknown>({ kind: 'commit', accesses, timeoutMs }, () =>
        effects.remove(removals),
      );
    },
    async list(prefix, cursor, count, { timeoutMs }) {
      checkList(prefix, count, limits);
      return ask({ kind: 'list', accesses: [], timeoutMs }, () => effects.list(prefix, cursor, count));
    },
    async close() {
      isClosed = true;
    },
  };
}

function copyOf(write: Write): Write {
  return { ...write, parts: write.parts.map((part) => ({ ...part, bytes: new Uint8Array(part.bytes) })) };
}
