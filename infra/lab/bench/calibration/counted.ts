// A driver around a driver that counts what a request costs a client: requests, how lonely they were, entities and bytes.
import { measured } from '../../../../shared/drivers/measured.ts';
import { lonelinessAt } from '../../../../shared/lab/cloud/data/processor.ts';
import type { Driver } from '../../../../shared/store/index.ts';

/** Running totals at a driver. */
export interface DriverUse {
  readonly reads: number;
  readonly writes: number;
  /** Sums of `lonelinessAt` the requests in flight when each was sent: as many requests as were alone, and shares of the others. */
  readonly lonelyReads: number;
  readonly lonelyWrites: number;
  readonly entitiesRead: number;
  readonly entitiesWritten: number;
  readonly kibRead: number;
  readonly kibWritten: number;
}

/** `use` gives the totals so far. Listings count as reads and removals as writes. */
export function countedDriver(inner: Driver): { readonly driver: Driver; readonly use: () => DriverUse } {
  const { driver, counters } = measured(inner);
  let inFlight = 0;
  let lonelyReads = 0;
  let lonelyWrites = 0;
  const during = async <T>(request: Promise<T>): Promise<T> => {
    try {
      return await request;
    } finally {
      inFlight -= 1;
    }
  };
  const sendRead = <T>(send: () => Promise<T>): Promise<T> => {
    inFlight += 1;
    lonelyReads += lonelinessAt(inFlight);
    return during(send());
  };
  const sendWrite = <T>(send: () => Promise<T>): Promise<T> => {
    inFlight += 1;
    lonelyWrites += lonelinessAt(inFlight);
    return during(send());
  };
  return {
    driver: {
      limits: driver.limits,
      read: (requests, options) => sendRead(() => driver.read(requests, options)),
      list: (prefix, cursor, count, options) => sendRead(() => driver.list(prefix, cursor, count, options)),
      write: (writes, options) => sendWrite(() => driver.write(writes, options)),
      remove: (removals, options) => sendWrite(() => driver.remove(removals, options)),
      close: () => driver.close(),
    },
    use: () => ({
      reads: counters.readCalls + counters.listCalls,
      writes: counters.writeCalls + counters.removeCalls,
      lonelyReads,
      lonelyWrites,
      entitiesRead: counters.entitiesAsked,
      entitiesWritten: counters.inserts + counters.patches + counters.replaces + counters.removals,
      kibRead: counters.bytesRead / 1_024,
      kibWritten: counters.bytesWritten / 1_024,
    }),
  };
}

/** The use between two readings, for each of so many operations. */
export function usePer(operations: number, before: DriverUse, after: DriverUse): DriverUse {
  const names = Object.keys(after) as (keyof DriverUse)[];
  const each = names.map((name) => [name, (after[name] - before[name]) / operations] as const);
  return Object.fromEntries(each) as unknown as DriverUse;
}
