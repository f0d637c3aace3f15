// Counts what a store spends at its provider, by wrapping the driver. What is billed differs: entities on Datastore, requests on Azure
// Table Storage, so the entry says which.
import type { Usage } from '../shared/compare/cell.ts';
import type { Driver, Entity, Part } from '../shared/store/index.ts';

export interface MeasuredDriver {
  readonly driver: Driver;
  /** Running totals since it was made. */
  readonly usage: () => Usage;
}

type Verb = 'read' | 'write' | 'remove' | 'list';

/** How many requests a provider is sent for one call of a driver, and how many operations it bills. */
export interface Tariff {
  requests(verb: Verb, entities: number): number;
  billable(verb: Verb, entities: number): number;
}

/** Every call is one request; each entity is billed, a listing of keys as the query alone. */
export const DATASTORE_TARIFF: Tariff = {
  requests: () => 1,
  billable: (verb, entities) => (verb === 'list' ? 1 : entities),
};

/** Only writes ride together; every request is billed as one operation. */
export const AZURE_TABLES_TARIFF: Tariff = {
  requests: (verb, entities) => (verb === 'read' || verb === 'remove' ? entities : 1),
  billable: (verb, entities) => (verb === 'read' || verb === 'remove' ? entities : 1),
};

const BILLED_AS = { read: 'reads', list: 'reads', write: 'writes', remove: 'deletes' } as const;

/** Wraps `driver`; what the driver asks again by itself (deferred keys, probes) is not seen. */
export function measuredDriver(driver: Driver, tariff: Tariff): MeasuredDriver {
  const spent = { requests: 0, bytesWritten: 0, bytesRead: 0 };
  const billable = { reads: 0, writes: 0, deletes: 0 };
  const count = (verb: Verb, entities: number): void => {
    spent.requests += tariff.requests(verb, entities);
    billable[BILLED_AS[verb]] += tariff.billable(verb, entities);
  };
  const measured: Driver = {
    limits: driver.limits,
    async read(requests, options) {
      count('read', requests.length);
      const entities = await driver.read(requests, options);
      for (const entity of entities) spent.bytesRead += bytesOf(entity);
      return entities;
    },
    write(writes, options) {
      count('write', writes.length);
      for (const { parts } of writes) spent.bytesWritten += sum(parts.map((part: Part) => part.bytes.length));
      return driver.write(writes, options);
    },
    remove(removals, options) {
      count('remove', removals.length);
      return driver.remove(removals, options);
    },
    list(prefix, cursor, limit, options) {
      count('list', 0);
      return driver.list(prefix, cursor, limit, options);
    },
    close: () => driver.close(),
  };
  // The store never repeats a write, and a repeated read is a request like any other: there are no retries beside the requests.
  return { driver: measured, usage: () => ({ ...spent, retries: 0, billable: { ...billable } }) };
}

function bytesOf(entity: Entity | undefined): number {
  return entity === undefined ? 0 : sum([...entity.parts.values()].map((bytes) => bytes.length));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
