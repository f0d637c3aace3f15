// Inserts the new nodes of a split under fresh ids (rules 2, 8 and 9). Each must be acknowledged or
// read back before it is linked. A split that fails leaves nodes that vacuum removes.
import { insertOf } from '../container/plan-commit.ts';
import type { EntityId, Write, WriteOutcome } from '../contract/driver.ts';
import { refusedError, type StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { nodeId } from '../format/entity-ids.ts';
import { LOST_AFTER_MS, sendWrites } from '../io/send.ts';
import type { InsertedNode } from '../machine/leaf.ts';
import type { EngineCore } from './core.ts';

/**
 * Writes each node (rule 9). While an answer is missing, an 8 byte read asks once a second whether
 * the node is stored. Resolves with undefined if one is not certainly stored; then `onTurnedAway`
 * has heard why, and the same insert may be tried again. Throws if a node was refused for its size,
 * its form or access.
 */
export async function insertNodes(
  core: EngineCore,
  headers: readonly Header[],
  attempt: Id64,
  onTurnedAway?: (refusal: StoreError) => void,
): Promise<InsertedNode[] | undefined> {
  const inserted = await Promise.all(headers.map((header) => insertNode(core, header, attempt, onTurnedAway)));
  return inserted.every((node) => node !== undefined) ? inserted : undefined;
}

async function insertNode(
  core: EngineCore,
  header: Header,
  attempt: Id64,
  onTurnedAway?: (refusal: StoreError) => void,
): Promise<InsertedNode | undefined> {
  const id = nodeId(core.table, header.incarnation, header.container);
  const { seen, outcome } = await sendInsert(core, insertOf(id, header, attempt), attempt);
  if (outcome?.kind === 'there') return { header, snapshot: undefined };
  if (outcome?.kind === 'written') {
    return { header, snapshot: { id, version: outcome.version, header, lastCommit: attempt, seen } };
  }
  // Nobody else draws this id, so the node that is there is this one, delivered twice.
  if (outcome?.kind === 'refused') {
    if (outcome.reason === 'condition') return { header, snapshot: undefined };
    const error = refusedError(outcome, core.table, id);
    // Rule 7: sent again, it would be refused again.
    if (outcome.reason !== 'throttled' && outcome.reason !== 'unsent') throw error;
    onTurnedAway?.(error);
    return undefined;
  }
  return (await isThere(core, id, attempt)) ? { header, snapshot: undefined } : undefined;
}

async function isThere(core: EngineCore, id: EntityId, attempt: Id64): Promise<boolean> {
  return (await core.reader.commitOf(id))?.lastCommit === attempt;
}

/** `there`: a read showed the node before the reply. */
type InsertOutcome = WriteOutcome | { readonly kind: 'there' } | undefined;

interface Sent {
  readonly seen: Moment;
  readonly outcome: InsertOutcome;
}

/** Sends the insert when the write limit has room. */
async function sendInsert(core: EngineCore, write: Write, attempt: Id64): Promise<Sent> {
  const sent = Promise.withResolvers<Sent>();
  await core.writeLimit.run(async () => {
    const seen = core.clock.now();
    const outcome = await replyOrSight(core, sendWrites(core, [write]), write.id, attempt);
    sent.resolve({ seen, outcome });
    const isFailed = outcome?.kind === 'refused' || outcome?.kind === 'unknown';
    return { isThrottled: isFailed && outcome.reason === 'throttled', isFailed };
  });
  return sent.promise;
}

async function replyOrSight(
  core: EngineCore,
  replying: Promise<readonly WriteOutcome[]>,
  id: EntityId,
  attempt: Id64,
): Promise<InsertOutcome> {
  while (!core.deadlines.isClosed) {
    const reply = await core.deadlines.within(LOST_AFTER_MS, replying);
    if (reply !== undefined) return reply[0];
    const looking = isThere(core, id, attempt).catch(() => false);
    const first = await Promise.race([replying, looking]);
    if (typeof first === 'object') return first[0];
    if (first) return { kind: 'there' };
  }
  return (await replying)[0];
}
