// All requests to the provider: each has a deadline and counts in its table's stats.
import {
  type Driver,
  type Entity,
  type EntityId,
  type ListCursor,
  partBytes,
  type ReadRequest,
  type Removal,
  type RemoveOutcome,
  type Write,
  type WriteOutcome,
} from '../contract/driver.ts';
import { refusedError } from '../contract/errors.ts';
import type { RequestTrace } from '../contract/trace.ts';
import { currentOperation, noteEvent, traceRequest } from '../system/tracing.ts';
import type { Counted, Counters } from './counters.ts';

/** Deadline of one request to the provider; a write has more time for its bytes. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A request open this long may be lost, or its reply. */
export const LOST_AFTER_MS = 1_000;
/** The least pace of one request's bytes, though eight requests share a slow link. */
export const SLOW_BYTES_PER_MS = 16;
/** A read's reply may be large, and come slowly. */
const READ_TIMEOUT_MS = 60_000;

/** The way of requests, and their count. An engine is one. */
export interface Provider extends Counted {
  readonly driver: Driver;
}

/** One request, `readsMax` reads at most; retried within its deadline. */
export function sendReads(
  provider: Provider,
  reads: readonly ReadRequest[],
  operation = currentOperation(),
): Promise<readonly (Entity | undefined)[]> {
  const { counters, driver, table } = provider;
  counters.requests += 1;
  counters.readRequests += 1;
  const send = () => driver.read(reads, { timeoutMs: READ_TIMEOUT_MS });
  return traceRequest({ kind: 'read', table, entities: reads.length, operation }, send, (entities, trace) => {
    for (const entity of entities)
      for (const bytes of entity?.parts.values() ?? []) trace.bytesRead += bytes.byteLength;
  });
}

/** One request, `writesMax` writes of one lane at most; never sent again (rule 2). */
export function sendWrites(
  provider: Provider,
  writes: readonly Write[],
  operation = currentOperation(),
): Promise<readonly WriteOutcome[]> {
  const { counters, driver, table } = provider;
  countWrite(counters);
  const bytes = writes.reduce((sum, { parts }) => sum + partBytes(parts), 0);
  const timeoutMs = REQUEST_TIMEOUT_MS + Math.ceil(bytes / SLOW_BYTES_PER_MS);
  const send = () => driver.write(writes, { timeoutMs });
  return traceRequest({ kind: 'write', table, entities: writes.length, operation }, send, (outcomes, trace) => {
    trace.bytesWritten += bytes;
    tellOutcome(outcomes, trace);
  });
}

/** Removes an entity of this version; never sent again (rule 2). Throws if denied, or unsent. */
export async function sendRemoval(provider: Provider, removal: Removal): Promise<RemoveOutcome | undefined> {
  countWrite(provider.counters);
  const asked = { kind: 'remove', table: provider.table, entities: 1, operation: currentOperation() } as const;
  const send = () => provider.driver.remove([removal], { timeoutMs: REQUEST_TIMEOUT_MS });
  const [outcome] = await traceRequest(asked, send, tellOutcome);
  if (outcome?.kind === 'refused' && (outcome.reason === 'denied' || outcome.reason === 'unsent'))
    throw refusedError(outcome, provider.table, removal.id);
  return outcome;
}

/** All ids with a prefix; a request a page. Not counted: only calls on tables list. */
export async function* listIds(driver: Driver, prefix: string): AsyncGenerator<EntityId> {
  let cursor: ListCursor | undefined;
  do {
    const operation = currentOperation();
    const asked = { kind: 'list', table: operation?.table, entities: 0, operation } as const;
    const options = { timeoutMs: REQUEST_TIMEOUT_MS };
    const page = await traceRequest(asked, () => driver.list(prefix, cursor, driver.limits.listMax, options));
    yield* page.ids;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** The first outcome that is no success. */
function tellOutcome(outcomes: readonly (WriteOutcome | RemoveOutcome)[], trace: RequestTrace): void {
  for (const outcome of outcomes) {
    if (outcome.kind === 'written' || outcome.kind === 'removed') continue;
    trace.outcome = outcome.reason === 'other' ? 'unknown' : outcome.reason;
    if (outcome.reason === 'throttled') noteEvent('throttled', trace.table);
    return;
  }
}

function countWrite(counters: Counters): void {
  counters.requests += 1;
  counters.writeRequests += 1;
}
