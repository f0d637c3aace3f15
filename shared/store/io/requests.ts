// All requests to the provider: each has a deadline and counts in its table's stats.
import type {
  Driver,
  Entity,
  EntityId,
  ListCursor,
  ReadRequest,
  Removal,
  RemoveOutcome,
  Write,
  WriteOutcome,
} from '../contract/driver.ts';
import { refusedError } from '../contract/errors.ts';
import type { Counters } from './counters.ts';

/** Deadline of one request to the provider. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A read's reply may be large: while it comes, however slowly, it is not asked for again. */
const READ_TIMEOUT_MS = 60_000;

/** The way of requests, and their count. An engine is one. */
export interface Provider {
  readonly driver: Driver;
  readonly counters: Counters;
}

/** One request, `readsMax` reads at most; retried within its deadline. */
export function sendReads(provider: Provider, reads: readonly ReadRequest[]): Promise<readonly (Entity | undefined)[]> {
  provider.counters.requests += 1;
  provider.counters.readRequests += 1;
  return provider.driver.read(reads, { timeoutMs: READ_TIMEOUT_MS });
}

/** One request, `writesMax` writes of one lane at most; never sent again (rule 2). */
export function sendWrites(provider: Provider, writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
  countWrite(provider.counters);
  return provider.driver.write(writes, { timeoutMs: REQUEST_TIMEOUT_MS });
}

/** Removes an entity of this version; never sent again (rule 2). Throws if denied. */
export async function sendRemoval(
  provider: Provider & { readonly table: string },
  removal: Removal,
): Promise<RemoveOutcome | undefined> {
  countWrite(provider.counters);
  const [outcome] = await provider.driver.remove([removal], { timeoutMs: REQUEST_TIMEOUT_MS });
  if (outcome?.kind === 'refused' && outcome.reason === 'denied')
    throw refusedError(outcome, provider.table, removal.id);
  return outcome;
}

/** All ids with a prefix; a request a page. Not counted: only calls on tables list. */
export async function* listIds(driver: Driver, prefix: string): AsyncGenerator<EntityId> {
  let cursor: ListCursor | undefined;
  do {
    const page = await driver.list(prefix, cursor, driver.limits.listMax, { timeoutMs: REQUEST_TIMEOUT_MS });
    yield* page.ids;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

function countWrite(counters: Counters): void {
  counters.requests += 1;
  counters.writeRequests += 1;
}
