// Wraps a driver and counts its calls, entities and bytes. Counters only grow.
import { type Driver, partBytes, type RemoveOutcome, type Write, type WriteOutcome } from '../store/contract/driver.ts';
import { StoreError } from '../store/contract/errors.ts';

/** Calls are counted when they are made, everything else when the reply has come. */
export type DriverCounters = typeof ZERO;

const ZERO = {
  readCalls: 0,
  writeCalls: 0,
  removeCalls: 0,
  listCalls: 0,
  /** Entities asked for, found or not. */
  entitiesAsked: 0,
  /** Writes handed over, by kind. */
  inserts: 0,
  patches: 0,
  replaces: 0,
  removals: 0,
  /** Writes answered `written`. */
  entitiesWritten: 0,
  /** Bytes of parts, without names and transport. */
  bytesRead: 0,
  bytesWritten: 0,
  /** Outcomes of writes and removals, one for each entity. */
  refusedCondition: 0,
  unknown: 0,
  /** Outcomes that say `throttled`, refused or unknown, and reads and lists that rejected so. */
  throttled: 0,
};

export function measured(driver: Driver): { readonly driver: Driver; readonly counters: DriverCounters } {
  const counters = { ...ZERO };
  return {
    counters,
    driver: {
      limits: driver.limits,
      async read(requests, options) {
        counters.readCalls += 1;
        counters.entitiesAsked += requests.length;
        const answers = await counted(counters, driver.read(requests, options));
        for (const entity of answers)
          for (const bytes of entity?.parts.values() ?? []) counters.bytesRead += bytes.byteLength;
        return answers;
      },
      async write(writes, options) {
        counters.writeCalls += 1;
        for (const write of writes) countWrite(counters, write);
        const outcomes = await driver.write(writes, options);
        for (const outcome of outcomes) countOutcome(counters, outcome);
        return outcomes;
      },
      async remove(removals, options) {
        counters.removeCalls += 1;
        counters.removals += removals.length;
        const outcomes = await driver.remove(removals, options);
        for (const outcome of outcomes) countOutcome(counters, outcome);
        return outcomes;
      },
      async list(prefix, cursor, count, options) {
        counters.listCalls += 1;
        return counted(counters, driver.list(prefix, cursor, count, options));
      },
      close: () => driver.close(),
    },
  };
}

async function counted<T>(counters: DriverCounters, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'throttled') counters.throttled += 1;
    throw error;
  }
}

function countWrite(counters: DriverCounters, write: Write): void {
  counters.bytesWritten += partBytes(write.parts);
  if (write.kind === 'insert') counters.inserts += 1;
  else if (write.kind === 'patch') counters.patches += 1;
  else counters.replaces += 1;
}

function countOutcome(counters: DriverCounters, outcome: WriteOutcome | RemoveOutcome): void {
  if (outcome.kind === 'written') counters.entitiesWritten += 1;
  if (outcome.kind === 'unknown') counters.unknown += 1;
  if (outcome.kind === 'refused' && outcome.reason === 'condition') counters.refusedCondition += 1;
  if ('reason' in outcome && outcome.reason === 'throttled') counters.throttled += 1;
}
