// What all requests to the provider share: their deadline, their count, and the listing of ids page by page.
import type { Driver, EntityId, ListCursor } from '../contract/driver.ts';
import type { Counters } from './counters.ts';

/** Deadline of one request to the provider. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** All ids with a prefix, page by page. */
export async function* listIds(driver: Driver, prefix: string): AsyncGenerator<EntityId> {
  let cursor: ListCursor | undefined;
  do {
    const page = await driver.list(prefix, cursor, driver.limits.listMax, { timeoutMs: REQUEST_TIMEOUT_MS });
    yield* page.ids;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** A write or removal is sent. */
export function countWrite(counters: Counters): void {
  counters.requests += 1;
  counters.writeRequests += 1;
}
