// Replies of a driver's requests, as the service sees them.
import type { Entity, ListPage } from '../../../store/contract/driver.ts';
import type { Reply } from './request.ts';

export function describeRead(entities: readonly (Entity | undefined)[], reply: Reply): void {
  for (const entity of entities) {
    if (entity === undefined) continue;
    for (const bytes of entity.parts.values()) reply.bytes += bytes.byteLength;
  }
}

/** The reply to a request that was refused, in whole or in part. */
export function describeOutcomes(outcomes: readonly { readonly kind: string }[], reply: Reply): void {
  reply.isRefused = outcomes.some(({ kind }) => kind === 'refused' || kind === 'unknown');
}

export function describePage({ ids }: ListPage, reply: Reply): void {
  reply.entities = ids.length;
  for (const id of ids) reply.bytes += id.length;
}
