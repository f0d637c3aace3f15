// Inserting the new nodes of a split (rules 2, 8 and 9): under fresh ids, each acknowledged or read
// back before a link. A failed split leaves garbage that vacuum removes.
import type { Snapshot } from '../container/snapshot.ts';
import { insertOf } from '../container/writes.ts';
import type { Write, WriteOutcome } from '../contract/driver.ts';
import { refusedError, type StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { nodeId } from '../format/ids.ts';
import { sendWrites } from '../io/requests.ts';
import type { EngineCore } from './core.ts';

export interface InsertedNode {
  readonly header: Header;
  /** Undefined if the provider did not tell the version. */
  readonly snapshot: Snapshot | undefined;
}

/**
 * Rule 9: a write for each, and one tiny read where the outcome is unknown. Undefined if a node is
 * not certainly there; `onThrottled` hears why. The same may be tried again. Throws if one was
 * refused for its size, its form or access.
 */
export async function insertNodes(
  core: EngineCore,
  headers: readonly Header[],
  attempt: Id64,
  onThrottled?: (refusal: StoreError) => void,
): Promise<InsertedNode[] | undefined> {
  const inserted = await Promise.all(headers.map((header) => insertNode(core, header, attempt, onThrottled)));
  return inserted.every((node) => node !== undefined) ? inserted : undefined;
}

async function insertNode(
  core: EngineCore,
  header: Header,
  attempt: Id64,
  onThrottled?: (refusal: StoreError) => void,
): Promise<InsertedNode | undefined> {
  const id = nodeId(core.table, header.incarnation, header.container);
  const { seen, outcome } = await sendInsert(core, insertOf(id, header, attempt));
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

interface Sent {
  readonly seen: Moment;
  readonly outcome: WriteOutcome | undefined;
}

/** Sends it when there is room for one more write. */
async function sendInsert(core: EngineCore, write: Write): Promise<Sent> {
  const sent = Promise.withResolvers<Sent>();
  await core.writeLimit.run(async () => {
    const seen = core.clock.now();
    const [outcome] = await sendWrites(core, [write]);
    sent.resolve({ seen, outcome });
    const isFailed = outcome?.kind !== 'written';
    return { isThrottled: isFailed && outcome?.reason === 'throttled', isFailed };
  });
  return sent.promise;
}
