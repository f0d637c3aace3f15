// Carries out a container's steps (reads, checks, inserts, writes), and tells the answers to it.
import type { Attempt } from '../container/attempts.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId, Write, WriteOutcome } from '../contract/driver.ts';
import { refusedError, type StoreError } from '../contract/errors.ts';
import type { TakenBack } from '../io/requests.ts';
import { departs } from '../machine/commit.ts';
import type { Event, InsertedNode, Leaf, Step } from '../machine/leaf.ts';
import { lateAfterMs, nextStep } from '../machine/next-step.ts';
import { tell } from '../machine/tell.ts';
import type { EngineCore } from './core.ts';
import { insertOf } from '../container/plan-commit.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { nodeId } from '../format/entity-ids.ts';
import { LOST_AFTER_MS, sendWrites } from '../io/send.ts';

export type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** The steps that go on with the provider's answer. */
type Question = StepOf<'read' | 'check' | 'insert'>;

/** Tells the leaf an event that happens now. */
export function told(core: EngineCore, leaf: Leaf, event: Event): Step | undefined {
  return tell(leaf, event, { world: core, now: core.clock.now() });
}

/**
 * The next step. If the decision throws, as for a damaged page, the leaf hears it like a failed
 * read.
 */
export function next(core: EngineCore, leaf: Leaf): Step {
  try {
    return nextStep(leaf, { world: core, now: core.clock.now() });
  } catch (error) {
    return told(core, leaf, { kind: 'failed', purpose: undefined, error }) ?? { kind: 'turn' };
  }
}

export async function ask(core: EngineCore, leaf: Leaf, step: Question): Promise<Step | undefined> {
  return told(core, leaf, await answerTo(core, step));
}

async function answerTo(core: EngineCore, step: Question): Promise<Event> {
  try {
    if (step.kind === 'check') return { kind: 'checked', isCurrent: await core.reader.isCurrent(step.snapshot) };
    if (step.kind === 'insert') return await insert(core, step);
    const { withinMs, purpose } = step;
    const reading = read(core, step).then((snapshot): Event => ({ kind: 'shown', purpose, snapshot }));
    const shown = await (withinMs === undefined ? reading : core.deadlines.within(withinMs, reading));
    return shown ?? { kind: 'failed', purpose, error: undefined };
  } catch (error) {
    return { kind: 'failed', purpose: step.kind === 'read' ? step.purpose : undefined, error };
  }
}

function read({ reader }: EngineCore, { id, what, latest }: StepOf<'read'>): Promise<Snapshot | undefined> {
  if (what === 'unknown') return reader.readUnknown(id);
  return what === 'intact' ? reader.readIntact(id) : reader.readPages(id, what, latest);
}

async function insert(core: EngineCore, { headers, attempt, withinMs }: StepOf<'insert'>): Promise<Event> {
  const refusals: StoreError[] = [];
  const inserting = insertNodes(core, headers, attempt, (refusal) => refusals.push(refusal));
  const nodes = await (withinMs === undefined ? inserting : core.deadlines.within(withinMs, inserting));
  return { kind: 'inserted', nodes, refusal: refusals.at(-1) };
}

/**
 * Sends the write, until it is answered, a read tells what became of it, or it is overdue (rule 3).
 */
export function write(
  core: EngineCore,
  leaf: Leaf,
  { write: request, attempt, isAlone }: StepOf<'write'>,
): Promise<Step | undefined> {
  const { clock, deadlines, writeBatcher } = core;
  const sent = clock.now();
  const sending = writeBatcher.send(request, isAlone, () => departs(leaf, attempt));
  const answered = (outcome: WriteOutcome | TakenBack) =>
    told(core, leaf, { kind: 'answered', attempt, outcome, sent });
  const failed = (error: unknown) => told(core, leaf, { kind: 'failed', purpose: undefined, error });
  // Without `await`, a lone put makes fewer promises.
  return deadlines
    .within(lateAfterMs(leaf, sent.monotonicMs), sending, sent.monotonicMs)
    .then(
      (outcome) =>
        outcome === undefined
          ? askUntilAnswered(core, leaf, { attempt, sending, answered }).catch(failed)
          : answered(outcome),
      failed,
    );
}

interface Sending {
  readonly attempt: Attempt;
  readonly sending: Promise<WriteOutcome | TakenBack>;
  readonly answered: (outcome: WriteOutcome | TakenBack) => Step | undefined;
}

/** Reads the container, again and again, until it is known what became of the write. */
async function askUntilAnswered(
  core: EngineCore,
  leaf: Leaf,
  { attempt, sending, answered }: Sending,
): Promise<undefined> {
  while (leaf.underWay === attempt) {
    const first = await Promise.race([sending, askAfter(core, leaf, attempt)]);
    if (first !== undefined) answered(first);
    else if (leaf.underWay === attempt) {
      const nowMs = core.clock.now().monotonicMs;
      const soon = await core.deadlines.within(lateAfterMs(leaf, nowMs), sending, nowMs);
      if (soon !== undefined) answered(soon);
    }
  }
  if (leaf.overdue === attempt) forgetWhenAnswered(leaf, attempt, sending);
}

/** The overdue write's answer settles nothing, but until it comes no third write is sent. */
function forgetWhenAnswered(leaf: Leaf, overdue: Attempt, sending: Promise<unknown>): void {
  const answered = (): void => {
    if (leaf.overdue === overdue) leaf.overdue = undefined;
  };
  void sending.then(answered, answered);
}

/** One read. If the write is answered first, what the read shows is too old to be told. */
async function askAfter(core: EngineCore, leaf: Leaf, attempt: Attempt): Promise<undefined> {
  told(core, leaf, { kind: 'late' });
  const step = next(core, leaf);
  if (step.kind !== 'read') return;
  const event = await answerTo(core, step);
  if (leaf.underWay === attempt) told(core, leaf, event);
}

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
