// Counts calls, entities and bytes around a driver. Counters only grow. It knows no prices.
import {
  type Driver,
  type Entity,
  partBytes,
  type RemoveOutcome,
  type Write,
  type WriteOutcome,
} from '../store/contract/driver.ts';
import { StoreError } from '../store/contract/errors.ts';

/** Calls are counted when made, everything else when the reply is there. */
export interface DriverCounters {
  readCalls: number;
  writeCalls: number;
  removeCalls: number;
  listCalls: number;
  /** Entities asked for, found or not. */
  entitiesAsked: number;
  entitiesFound: number;
  /** Writes handed over, by kind. */
  inserts: number;
  patches: number;
  replaces: number;
  removals: number;
  /** Writes answered `written` and removals answered `removed`. */
  entitiesWritten: number;
  entitiesRemoved: number;
  idsListed: number;
  /** Bytes of parts, without names and transport. */
  bytesRead: number;
  bytesWritten: number;
  /** Outcomes of writes and removals, one for each entity. */
  refusedCondition: number;
  refusedOther: number;
  unknown: number;
  /** The part of `unknown` that was answered `throttled`, and reads and lists that rejected so. */
  throttled: number;
  /** Reads and lists that rejected. */
  failedReads: number;
}

export function measured(driver: Driver): { readonly driver: Driver; readonly counters: DriverCounters } {
  const counters = zero();
  return {
    counters,
    driver: {
      limits: driver.limits,
      async read(requests, options) {
        counters.readCalls += 1;
        counters.entitiesAsked += requests.length;
        const answers = await counted(counters, driver.read(requests, options));
        for (const entity of answers) countFound(counters, entity);
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
        const page = await counted(counters, driver.list(prefix, cursor, count, options));
        counters.idsListed += page.ids.length;
        return page;
      },
      close: () => driver.close(),
    },
  };
}

function zero(): DriverCounters {
  return {
    readCalls: 0,
    writeCalls: 0,
    removeCalls: 0,
    listCalls: 0,
    entitiesAsked: 0,
    entitiesFound: 0,
    inserts: 0,
    patches: 0,
    replaces: 0,
    removals: 0,
    entitiesWritten: 0,
    entitiesRemoved: 0,
    idsListed: 0,
    bytesRead: 0,
    bytesWritten: 0,
    refusedCondition: 0,
    refusedOther: 0,
    unknown: 0,
    throttled: 0,
    failedReads: 0,
  };
}

async function counted<T>(counters: DriverCounters, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    counters.failedReads += 1;
    if (error instanceof StoreError && error.code === 'throttled') counters.throttled += 1;
    throw error;
  }
}

function countFound(counters: DriverCounters, entity: Entity | undefined): void {
  if (entity === undefined) return;
  counters.entitiesFound += 1;
  for (const bytes of entity.parts.values()) counters.bytesRead += bytes.byteLength;
}

function countWrite(counters: DriverCounters, write: Write): void {
  counters.bytesWritten += partBytes(write.parts);
  if (write.kind === 'insert') counters.inserts += 1;
  else if (write.kind === 'patch') counters.patches += 1;
  else counters.replaces += 1;
}

function countOutcome(counters: DriverCounters, outcome: WriteOutcome | RemoveOutcome): void {
  switch (outcome.kind) {
    case 'written':
      counters.entitiesWritten += 1;
      break;
    case 'removed':
      counters.entitiesRemoved += 1;
      break;
    case 'refused':
      if (outcome.reason === 'condition') counters.refusedCondition += 1;
      else counters.refusedOther += 1;
      break;
    case 'unknown':
      counters.unknown += 1;
      if (outcome.reason === 'throttled') counters.throttled += 1;
      break;
  }
}
