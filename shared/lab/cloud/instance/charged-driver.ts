// A request costs processor time: half when sent, half when answered; bytes when they pass.
import { type Driver, type Entity, partBytes, type Write } from '../../../store/contract/driver.ts';
import type { ContainerCosts } from '../data/processor.ts';
import { charged } from './charged.ts';
import type { Processor } from './instance.ts';

const KIB = 1_024;

export function chargedDriver(driver: Driver, processor: Processor, costs: ContainerCosts): Driver {
  const { request, entity, kib } = costs;
  const station = { processor, inFlight: 0 };
  return {
    limits: driver.limits,
    read: (requests, options) => {
      const entities = (requests.length * entity.read) / 2;
      const answered = (found: readonly (Entity | undefined)[]): number => entities + (bytesOf(found) / KIB) * kib.read;
      return charged(station, request.read, () => driver.read(requests, options), { sent: entities, answered });
    },
    write: (writes, options) => {
      const entities = (writes.length * entity.written) / 2;
      const sent = entities + (bytesWritten(writes) / KIB) * kib.written;
      return charged(station, request.write, () => driver.write(writes, options), { sent, answered: () => entities });
    },
    remove: (removals, options) => {
      const sent = (removals.length * entity.written) / 2;
      return charged(station, request.write, () => driver.remove(removals, options), { sent, answered: () => sent });
    },
    list: (prefix, cursor, count, options) =>
      charged(station, request.read, () => driver.list(prefix, cursor, count, options)),
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
