// Inserting the new nodes of a split (rules 2, 8 and 9): under fresh ids, each acknowledged or read
// back before a link. A failed split leaves garbage that vacuum removes.
import pLimit from 'p-limit';
import type { Snapshot } from '../container/snapshot.ts';
import { insertOf } from '../container/writes.ts';
import { refusedError, type StoreError } from '../contract/errors.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { nodeId } from '../format/ids.ts';
import { sendWrites } from '../io/requests.ts';
import type { EngineCore } from './core.ts';

const INSERTS_IN_FLIGHT = 8;

export interface InsertedNode {
  readonly header: Header;
  /** Undefined if the provider did not tell the version. */
  readonly snapshot: Snapshot | undefined;
}

/**
 * Rule 9: inserts up to 8 at a time, one write each, and one tiny read where the outcome is
 * unknown. Undefined if a node is not certainly there; `onThrottled` hears why. The same may be
 * tried again. Throws if one was refused for its size, its form or access.
 */
export async function insertNodes(
  core: EngineCore,
  headers: readonly Header[],
  attempt: Id64,
  onThrottled?: (refusal: StoreError) => void,
): Promise<InsertedNode[] | undefined> {
  const limit = pLimit(INSERTS_IN_FLIGHT);
  const inserted = await Promise.all(
    headers.map((header) => limit(() => insertNode(core, header, attempt, onThrottled))),
  );
  return inserted.every((node) => node !== undefined) ? inserted : undefined;
}

async function insertNode(
  core: EngineCore,
  header: Header,
  attempt: Id64,
  onThrottled?: (refusal: StoreError) => void,
): Promise<InsertedNode | undefined> {
  const id = nodeId(core.table, header.incarnation, header.container);
  const seen = core.clock.now();
  const [outcome] = await sendWrites(core, [insertOf(id, header, attempt)]);
  if (outcome?.kind === 'written') {
    return { header, snapshot: { id, version: outcome.version, header, lastCommit: attempt, seen } };
  }
  // Nobody else draws this id: the node there is this one, sent twice on the way.
  if (outcome?.kind === 'refused') {
    if (outcome.reason === 'condition') return { header, snapshot: undefined };
    const error = refusedError(outcome, core.table, id);
    // Rule 7: sent again it would be refused again.
    if (outcome.reason !== 'throttled') throw error;
    onThrottled?.(error);
    return undefined;
  }
  const lastCommit = (await core.reader.commitOf(id))?.lastCommit;
  return lastCommit === attempt ? { header, snapshot: undefined } : undefined;
}
