// A driver whose requests cost the instance's processor time: half when sent, half when answered;
// bytes when they go or come.
import { type Driver, type Entity, partBytes, type Write } from '../../../store/contract/driver.ts';
import { type ContainerCosts, type Cost, costAt } from '../data/processor.ts';
import type { Processor } from './processor.ts';

const KIB = 1_024;

export function chargedDriver(driver: Driver, processor: Processor, costs: ContainerCosts): Driver {
  let inFlight = 0;
  const { request, entity, kib } = costs;

  async function charged<T>(
    cost: Cost,
    more: { sent: number; answered: (answer: T) => number },
    send: () => Promise<T>,
  ) {
    inFlight += 1;
    try {
      const half = costAt(cost, inFlight) / 2;
      await processor.spend(half + more.sent);
      const answer = await send();
      await processor.spend(half + more.answered(answer));
      return answer;
    } finally {
      inFlight -= 1;
    }
  }

  return {
    limits: driver.limits,
    read: (requests, options) => {
      const entities = (requests.length * entity.read) / 2;
      const answered = (found: readonly (Entity | undefined)[]): number => entities + (bytesOf(found) / KIB) * kib.read;
      return charged(request.read, { sent: entities, answered }, () => driver.read(requests, options));
    },
    write: (writes, options) => {
      const entities = (writes.length * entity.written) / 2;
      const sent = entities + (bytesWritten(writes) / KIB) * kib.written;
      return charged(request.write, { sent, answered: () => entities }, () => driver.write(writes, options));
    },
    remove: (removals, options) => {
      const entities = (removals.length * entity.written) / 2;
      return charged(request.write, { sent: entities, answered: () => entities }, () =>
        driver.remove(removals, options),
      );
    },
    list: (prefix, cursor, count, options) =>
      charged(request.read, { sent: 0, answered: () => 0 }, () => driver.list(prefix, cursor, count, options)),
    close: () => driver.close(),
  };
}

function bytesOf(found: readonly (Entity | undefined)[]): number {
  let bytes = 0;
  for (const entity of found) if (entity !== undefined) for (const part of entity.parts.values()) bytes += part.length;
  return bytes;
}

function bytesWritten(writes: readonly Write[]): number {
  return writes.reduce((sum, { parts }) => sum + partBytes(parts), 0);
}
