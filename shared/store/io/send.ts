// Sends every request to the provider, gives it a deadline and counts it in its table's stats.
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
import { type Counted, type Counters, currentOperation, noteEvent, traceRequest } from '../system/tracing.ts';

/** The deadline of a request; a write gets the time of its bytes on top. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A request that has had no reply for this long may be lost. */
export const LOST_AFTER_MS = 1_000;
/** The slowest pace assumed for the bytes of one request, if eight requests share a slow link. */
export const SLOW_BYTES_PER_MS = 16;
/** A read gets longer, as its reply may be large. */
const READ_TIMEOUT_MS = 60_000;

/** The driver that requests go to, and the counters of the table that they are for. */
export interface RequestContext extends Counted {
  readonly driver: Driver;
}

/** Sends one request of at most `readsMax` reads. The driver tries it again within its deadline. */
export function sendReads(
  context: RequestContext,
  reads: readonly ReadRequest[],
  operation = currentOperation(),
): Promise<readonly (Entity | undefined)[]> {
  const { counters, driver, table } = context;
  counters.requests += 1;
  counters.readRequests += 1;
  const send = () => driver.read(reads, { timeoutMs: READ_TIMEOUT_MS });
  return traceRequest({ kind: 'read', table, entities: reads.length, operation }, send, (entities, trace) => {
    for (const entity of entities)
      for (const bytes of entity?.parts.values() ?? []) trace.bytesRead += bytes.byteLength;
  });
}

/** Sends one request of at most `writesMax` writes of one lane, once (rule 2). */
export function sendWrites(
  context: RequestContext,
  writes: readonly Write[],
  operation = currentOperation(),
): Promise<readonly WriteOutcome[]> {
  const { counters, driver, table } = context;
  countWrite(counters);
  const bytes = writes.reduce((sum, { parts }) => sum + partBytes(parts), 0);
  const timeoutMs = REQUEST_TIMEOUT_MS + Math.ceil(bytes / SLOW_BYTES_PER_MS);
  const send = () => driver.write(writes, { timeoutMs });
  return traceRequest({ kind: 'write', table, entities: writes.length, operation }, send, (outcomes, trace) => {
    trace.bytesWritten += bytes;
    tellOutcome(outcomes, trace);
  });
}

/** Removes an entity of this version by one request, sent once. Throws if denied or unsent. */
export async function sendRemoval(context: RequestContext, removal: Removal): Promise<RemoveOutcome | undefined> {
  countWrite(context.counters);
  const asked = { kind: 'remove', table: context.table, entities: 1, operation: currentOperation() } as const;
  const send = () => context.driver.remove([removal], { timeoutMs: REQUEST_TIMEOUT_MS });
  const [outcome] = await traceRequest(asked, send, tellOutcome);
  if (outcome?.kind === 'refused' && (outcome.reason === 'denied' || outcome.reason === 'unsent'))
    throw refusedError(outcome, context.table, removal.id);
  return outcome;
}

/** Lists all ids with a prefix, one request per page. No table's stats count them. */
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

/** Notes the first outcome that is no success. */
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
