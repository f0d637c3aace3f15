// One attempt at a commit of one container: evaluates the changes and sends the write or split.
import { type Attempt, dropHints, settleAll } from '../container/attempts.ts';
import type { Change, Verdict } from '../container/change.ts';
import { slotsToCommit } from '../container/compaction.ts';
import { evaluate, type Evaluation } from '../container/evaluate.ts';
import { type Plan, planCommit } from '../container/plan-commit.ts';
import { isWhole, type Snapshot } from '../container/snapshot.ts';
import { isDivisible } from '../container/split.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { nodeId } from '../format/ids.ts';
import { drawAttempt, drawId } from '../io/clock.ts';
import { count } from '../io/counters.ts';
import type { AbsorbBase } from './absorbing.ts';
import { AttemptSender } from './attempt-sender.ts';
import type { EngineCore } from './core.ts';
import { type InsertedNode, insertNodes } from './insert-nodes.ts';
import { sealPages } from '../container/seal-pages.ts';
import { failsTooOften } from '../container/when-to-split.ts';

/** Changes in a commit, at most: bounds memory, and an evaluation to some 20 ms. */
const GROUP_COUNT_MAX = 5_000;

/** The content of one commit. */
interface Group {
  /** The container as the provider has it. */
  readonly snapshot: Snapshot;
  /** The base of the changes: the snapshot, or more if its right neighbour is taken in. */
  readonly base: Snapshot;
  /** Work beside the changes: then it is sent although they change nothing. */
  readonly upkeep?: Upkeep | undefined;
  /** The layer to write, if compaction was planned already. */
  readonly target?: number | undefined;
  /** All lie within the base, in order of position. */
  readonly changes: readonly Change[];
  /** When the attempt is made: expiry is judged by it alone. */
  readonly now: Moment;
}

/** Taking the right neighbour in, or writing all pages anew without dead records. */
export type Upkeep = AbsorbBase | 'purge';

/** An attempt whose header is not made yet. */
type Draft = Omit<Attempt, 'header'>;

type SplitPlan = Extract<Plan, { readonly kind: 'split' }>;

/** Commits to one container, an attempt at a time. Changes it cannot settle stay. */
export class Committer {
  readonly #id: EntityId;
  readonly #core: EngineCore;
  /** Sends the attempts, and knows what became of them. */
  readonly sender: AttemptSender;
  /** Changes that one commit may carry. */
  groupCountMax = GROUP_COUNT_MAX;
  /** A split whose nodes were throttled: tried again while its base is the newest. */
  #throttledSplit: { readonly draft: Draft; readonly plan: SplitPlan } | undefined;

  constructor(id: EntityId, core: EngineCore) {
    this.#id = id;
    this.#core = core;
    this.sender = new AttemptSender(id, core);
  }

  /**
   * One attempt at changes within the snapshot or what `upkeep` makes of it. Gives the container as
   * seen last. Unsettled changes need another. Throws if a read fails.
   */
  async commit(asked: Omit<Group, 'base'>): Promise<Snapshot | undefined> {
    const { snapshot, upkeep, changes } = asked;
    this.sender.seen = snapshot;
    const split = this.#takeThrottledSplit();
    if (split?.draft.base.version === snapshot.version && upkeep === undefined) {
      await this.#splitForSize(split.draft, split.plan);
      return this.sender.seen;
    }
    const base = typeof upkeep === 'object' ? upkeep.joined : snapshot;
    const group: Group = { ...asked, base };
    const evaluation = await this.#evaluate(group);
    const mustWrite = upkeep !== undefined || changes.some((change) => change.openAttempts > 0);
    if (evaluation.appliedCount === 0 && !mustWrite) await this.#confirmNegatives(group, evaluation.verdicts);
    else {
      this.groupCountMax = GROUP_COUNT_MAX;
      await this.#write(group, evaluation);
    }
    return this.sender.seen;
  }

  /** Undefined if there is none, or a call ended: it was told that nothing was written. */
  #takeThrottledSplit(): { readonly draft: Draft; readonly plan: SplitPlan } | undefined {
    const split = this.#throttledSplit;
    this.#throttledSplit = undefined;
    return split?.draft.changes.some(({ isSettled }) => isSettled) === true ? undefined : split;
  }

  /** Rule 6: such a verdict needs a read after the call began that shows this version. */
  async #confirmNegatives({ snapshot, changes }: Group, verdicts: readonly Verdict[]): Promise<void> {
    const isConfirmed = changes.every((change) => snapshot.seen.tick > change.begunTick);
    if (isConfirmed || (await this.#core.reader.isCurrent(snapshot))) return settleAll(changes, verdicts);
    await this.sender.look(this.#core.reader.readPages(this.#id, []));
  }

  async #evaluate({ base, upkeep, target, changes, now }: Group, mergesAll = false): Promise<Evaluation> {
    const { rules, turns } = this.#core;
    const unsealed = evaluate(base, changes, {
      ...rules,
      nowMs: now.wallMs,
      target,
      mergesAll,
      purges: upkeep === 'purge',
    });
    // After a group was taken back no turn ends: callers who leave meanwhile would undo this too.
    const mayPause = changes.length > 1 && !this.sender.wasTakenBack;
    if (mayPause) await turns.pause();
    const evaluation = sealPages(unsealed, base.header, rules);
    if (mayPause) await turns.pause();
    return evaluation;
  }

  async #write(group: Group, evaluation: Evaluation): Promise<void> {
    const { reader, rules, runtime, traffic } = this.#core;
    const { snapshot, base, upkeep, changes, now } = group;
    const id = drawAttempt(this.#core);
    const landed = (): void => {
      if (base !== snapshot) count(this.#core, 'merges');
    };
    const draft: Draft = { id, base: snapshot, changes, verdicts: evaluation.verdicts, answer: 'none', landed };
    const mustSplit = this.sender.mustSplit || failsTooOften(this.sender.backoff.failuresInARow);
    const nodes = mustSplit || upkeep !== undefined ? 0 : this.#nodesForTraffic(snapshot, now);
    const asked = {
      mustSplit,
      mustReplace: typeof upkeep === 'object' && upkeep.mustReplace,
      nodesForTraffic: 0,
      holdForMs: nodes > 0 ? traffic.holdMs(snapshot) : 0,
    };
    const plan = planCommit(
      { snapshot: base, evaluation, attempt: id, ...asked, nowMs: now.wallMs, drawId: () => drawId(runtime) },
      rules,
    );
    switch (plan.kind) {
      case 'needs_whole':
        await this.sender.look(reader.readIntact(this.#id));
        return;
      case 'needs_merge':
        return this.#write(group, await this.#evaluate(group, true));
      case 'too_large':
        if (changes.length > 1) this.groupCountMax = Math.ceil(changes.length / 2);
        else this.sender.fail(changes, tooLarge(this.#id, base.header.groupBy));
        return;
      case 'split':
        await this.#splitForSize(draft, plan);
        // Another round makes anew what takes a neighbour in: it may have changed.
        if (upkeep !== undefined) this.#throttledSplit = undefined;
        return;
      case 'update':
        if (!(await this.sender.send(plan.write, { ...draft, header: plan.header }))) return;
        if (nodes > 0) await this.#splitHeld(id, nodes);
        return;
      default:
        plan satisfies never;
    }
  }

  /** None for a group that has its container to itself: others would hold in vain (rule 34). */
  #nodesForTraffic(snapshot: Snapshot, { monotonicMs }: Moment): number {
    const nodes = this.#core.traffic.nodesFor(snapshot, monotonicMs);
    return nodes > 0 && isDivisible(snapshot, this.#core.table) ? nodes : 0;
  }

  /** Rule 10: looks again before it inserts anything. */
  async #splitForSize(draft: Draft, plan: SplitPlan): Promise<void> {
    const { reader } = this.#core;
    const { base, changes } = draft;
    if (await reader.isCurrent(base)) await this.#split(draft, plan);
    else await this.sender.look(reader.readPages(base.id, slotsToCommit(base, changes), base));
  }

  /** Splits the container as it just left it. Nobody waits for it, and nobody is told. */
  async #splitHeld(hold: Id64, nodes: number): Promise<void> {
    const { traffic } = this.#core;
    const held = this.sender.seen;
    // Another process may have been quicker already.
    if (held?.lastCommit !== hold) return;
    traffic.noteOwnHold(this.#id, hold);
    let isSplit = false;
    try {
      const draft = await this.#planHeld(held, nodes);
      isSplit = draft !== undefined && (await this.#split(draft.draft, draft.plan, traffic.holdMs(held)));
    } catch (error) {
      // The next commit meets the same, and has a caller to tell.
      if (!(error instanceof StoreError)) throw error;
    }
    if (isSplit) return;
    count(this.#core, 'lostSplits');
    traffic.noteLostSplit(this.#id);
  }

  async #planHeld(held: Snapshot, nodes: number): Promise<{ draft: Draft; plan: SplitPlan } | undefined> {
    const { clock, reader, rules, runtime } = this.#core;
    const snapshot = isWhole(held.header) ? held : await this.sender.look(reader.readIntact(this.#id));
    if (snapshot?.version !== held.version) return undefined;
    const [id, now] = [drawAttempt(this.#core), clock.now()];
    const group: Group = { snapshot, base: snapshot, changes: [], now };
    const evaluation = await this.#evaluate(group, snapshot.header.layers.length > 0);
    const asked = { mustSplit: false, mustReplace: false, nodesForTraffic: nodes, holdForMs: 0 };
    const ids = { attempt: id, drawId: () => drawId(runtime) };
    const input = { snapshot, evaluation, ...ids, ...asked, nowMs: now.wallMs };
    const plan = planCommit(input, rules);
    const landed = (): void => count(this.#core, 'splitsByTraffic');
    const draft: Draft = { id, base: snapshot, changes: [], verdicts: [], answer: 'none', landed };
    return plan.kind === 'split' ? { draft, plan } : undefined;
  }

  /**
   * Rules 8 and 9: inserts the new nodes, and links them on this very base when all are there. True
   * if they are known to be linked. Nodes that are not there `withinMs` are left to vacuum.
   */
  async #split(draft: Draft, plan: SplitPlan, withinMs?: number): Promise<boolean> {
    const { changes } = draft;
    const { inserts, left } = plan;
    const refusals: StoreError[] = [];
    const inserting = insertNodes(this.#core, inserts, draft.id, (refusal) => refusals.push(refusal));
    const inserted = await (withinMs === undefined ? inserting : this.#core.deadlines.within(withinMs, inserting));
    if (inserted === undefined) {
      const refusal = refusals.at(-1);
      if (refusal === undefined) this.sender.backoff.failuresInARow += 1;
      else this.sender.noteTurnedAway(refusal, changes);
      if (refusal !== undefined && withinMs === undefined) this.#throttledSplit = { draft, plan };
      dropHints(changes);
      return false;
    }
    let isLinked = false;
    const landed = (): void => {
      isLinked = true;
      draft.landed();
      this.#announce(left.header, inserted);
    };
    await this.sender.send(left.write, { ...draft, header: left.header, landed });
    return isLinked;
  }

  /** New nodes are cached, and their parent told. A root's children are in the root. */
  #announce(left: Header, inserted: readonly InsertedNode[]): void {
    const { cache, repair, table, traffic } = this.#core;
    count(this.#core, 'splits');
    const ids = inserted.map(({ header }) => nodeId(table, header.incarnation, header.container));
    traffic.noteSplit(this.#id, left.level === 0 ? [this.#id, ...ids] : ids);
    for (const { header, snapshot } of inserted) {
      if (snapshot !== undefined) cache.offer(snapshot);
      const { level, incarnation, low: separator, container: child } = header;
      if (left.level === level) repair({ level: level + 1, incarnation, separator, child, instead: undefined });
    }
  }
}

function tooLarge(container: EntityId, groupBy: string | undefined): StoreError {
  const group = `the group (keys alike up to "${groupBy}") does not fit into a container: make groups smaller`;
  const message = groupBy === undefined ? 'the record does not fit into a container' : group;
  return new StoreError('too_large', message, { container });
}
