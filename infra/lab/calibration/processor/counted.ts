// A driver that counts what requests cost a client: how lonely they were, entities and bytes.
import { type DriverCounters, measured } from '../../../../shared/drivers/measured.ts';
import { lonelinessAt } from '../../../../shared/lab/cloud/data/processor.ts';
import type { Driver } from '../../../../shared/store/index.ts';

/** Totals at a driver, or what is left of them for an operation. */
export type DriverUse = ReturnType<typeof useOf>;

export function countedDriver(inner: Driver): { readonly driver: Driver; readonly use: () => DriverUse } {
  const { driver, counters } = measured(inner);
  const lonely = { reads: 0, writes: 0 };
  let inFlight = 0;
  const sending = async <T>(kind: keyof typeof lonely, send: () => Promise<T>): Promise<T> => {
    inFlight += 1;
    lonely[kind] += lonelinessAt(inFlight);
    try {
      return await send();
    } finally {
      inFlight -= 1;
    }
  };
  return {
    driver: {
      limits: driver.limits,
      read: (requests, options) => sending('reads', () => driver.read(requests, options)),
      list: (prefix, cursor, count, options) => sending('reads', () => driver.list(prefix, cursor, count, options)),
      write: (writes, options) => sending('writes', () => driver.write(writes, options)),
      remove: (removals, options) => sending('writes', () => driver.remove(removals, options)),
      close: () => driver.close(),
    },
    use: () => useOf(counters, lonely),
  };
}

/** Listings count as reads, removals as writes, lonely ones by `lonelinessAt` when sent. */
function useOf(counters: DriverCounters, lonely: { readonly reads: number; readonly writes: number }) {
  return {
    reads: counters.readCalls + counters.listCalls,
    writes: counters.writeCalls + counters.removeCalls,
    lonelyReads: lonely.reads,
    lonelyWrites: lonely.writes,
    entitiesRead: counters.entitiesAsked,
    entitiesWritten: counters.inserts + counters.patches + counters.replaces + counters.removals,
    kibRead: counters.bytesRead / 1_024,
    kibWritten: counters.bytesWritten / 1_024,
  };
}
