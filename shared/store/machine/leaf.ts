// One container as its process knows it, and what may be done next, as plain data. Nothing in this
// room waits: the runner carries steps out and tells what came of them.
import { type Attempt, OpenAttempts, refusalsOf } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import type { Evaluation, UnsealedEvaluation } from '../container/evaluate.ts';
import type { CommitRules, Plan } from '../container/plan-commit.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { type SortedChanges, sortChanges } from '../container/sort-changes.ts';
import type { EntityId, Write, WriteOutcome } from '../contract/driver.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Moment, Runtime } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import type { Position } from '../format/position.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Counted } from '../io/counters.ts';
import type { TakenBack } from '../io/write-batcher.ts';
import { Backoff } from './backoff.ts';
import type { Advice, Contention } from './contention.ts';

/** Changes in a commit, at most: bounds memory, and an evaluation to some 20 ms. */
export const GROUP_COUNT_MAX = 5_000;

/** What a decision may look at beside the container itself. All of it answers at once. */
export interface World extends Counted {
  readonly rules: CommitRules;
  readonly cache: ContainerCache;
  readonly contention: Contention;
  readonly runtime: Pick<Runtime, 'random'>;
  /** Begins the ids of all attempts of this process. */
  readonly tag: string;
}

/** What a decision is made with: the world, and the moment at which it is made. */
export interface Here {
  readonly world: World;
  readonly now: Moment;
}

/** A routing entry as it is to be: `child` begins at its separator, or to its left. */
export interface EntryRepair {
  /** The branch's. */
  readonly level: number;
  readonly incarnation: Id64;
  readonly separator: Position;
  readonly child: Id64;
  /** The child that the entry names wrongly (rule 29); undefined: it is added (rule 11). */
  readonly instead: Id64 | undefined;
}

/** What is read: all of a container if its table's are small; all of it; or pages by slot. */
export type Reading = 'unknown' | 'intact' | readonly number[];

/** Whom a read is for: its reply, or its failure, means something else to each. */
type ReadFor = 'container' | 'neighbour' | 'late write' | 'doubt';

export type Step =
  /** Nothing to do, and nothing under way. */
  | { readonly kind: 'rest' }
  | {
      readonly kind: 'read';
      readonly id: EntityId;
      readonly what: Reading;
      readonly reader: ReadFor;
      readonly latest?: Snapshot | undefined;
      /** After so long it counts as failed. */
      readonly withinMs?: number;
    }
  /** Whether this is still the container's version. */
  | { readonly kind: 'check'; readonly snapshot: Snapshot }
  | { readonly kind: 'pause'; readonly ms: number; readonly isWoken: boolean }
  /** More work follows, once the event loop has had its turn. */
  | { readonly kind: 'turn' }
  | {
      readonly kind: 'insert';
      readonly headers: readonly Header[];
      readonly attempt: Id64;
      readonly withinMs: number | undefined;
    }
  | { readonly kind: 'write'; readonly write: Write; readonly attempt: Attempt; readonly isAlone: boolean }
  /** Only the answer of the write under way can tell more. */
  | { readonly kind: 'answer' }
  | {
      readonly kind: 'send on';
      /** Beyond the node; to the left of it; by a root read anew; or after a branch was missed. */
      readonly way: 'right' | 'left' | 'again' | 'missing';
      readonly node: Snapshot | undefined;
      readonly changes: readonly Change[];
    };

export interface InsertedNode {
  readonly header: Header;
  /** Undefined if the provider did not tell the version. */
  readonly snapshot: Snapshot | undefined;
}

export type Event =
  | { readonly kind: 'came'; readonly changes: readonly Change[]; readonly retired: Snapshot | undefined }
  /** A read's reply; undefined: the container is missing. */
  | { readonly kind: 'shown'; readonly reader: ReadFor; readonly snapshot: Snapshot | undefined }
  | { readonly kind: 'checked'; readonly isCurrent: boolean }
  /** A read, an insert or a decision failed. */
  | { readonly kind: 'failed'; readonly reader: ReadFor | undefined; readonly error: unknown }
  | {
      readonly kind: 'inserted';
      /** Undefined if one of them may not be there. */
      readonly nodes: readonly InsertedNode[] | undefined;
      readonly refusal: StoreError | undefined;
    }
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'answered';
      readonly attempt: Attempt;
      readonly outcome: WriteOutcome | TakenBack;
      /** When it began, to wait for room first. */
      readonly sent: Moment;
    }
  /** The write under way has had no answer for so long that it may be lost. */
  | { readonly kind: 'late' };

/** An attempt whose header is not made yet. */
export type Draft = Omit<Attempt, 'header'>;

export type SplitPlan = Extract<Plan, { readonly kind: 'split' }>;

/** The content of one commit. */
export interface Group {
  /** The container as the provider has it. */
  readonly snapshot: Snapshot;
  /** The base of the changes: the snapshot, or more if its right neighbour is taken in. */
  readonly base: Snapshot;
  /** All lie within the base, in order of position. */
  readonly changes: readonly Change[];
  /** When the attempt is made: expiry is judged by it alone. */
  readonly now: Moment;
  /** Work beside the changes: then it is sent although they change nothing. */
  readonly maintenance?: Maintenance | undefined;
  /** The layer to write, if compaction was planned already. */
  readonly target?: number | undefined;
  readonly mergesAll?: boolean;
  /** To split the container, as the commit left it that asked others to leave it alone. */
  readonly frozen?: Frozen;
}

/** A split that others are asked to wait for: among so many nodes, and given up after so long. */
export type Frozen = Pick<Advice, 'splitInto' | 'freezeMs'>;

/** Taking the right neighbour in, or writing all pages anew without dead records. */
export type Maintenance = { readonly mustReplace: boolean } | 'purge';

/** Work of several steps on one attempt. */
export type Stage =
  | { readonly kind: 'unsealed'; readonly group: Group; readonly unsealed: UnsealedEvaluation }
  | { readonly kind: 'laid'; readonly group: Group; readonly evaluation: Evaluation }
  /** Rule 6: nothing changed, which must be so after the calls began. */
  | { readonly kind: 'negatives'; readonly group: Group; readonly evaluation: Evaluation }
  /** Rules 8 to 10: checked once more, its nodes inserted, then linked. */
  | {
      readonly kind: 'split';
      readonly draft: Draft;
      readonly plan: SplitPlan;
      readonly isChecked: boolean;
      /** A split for traffic is given up after that. */
      readonly withinMs: number | undefined;
      readonly isKept: boolean;
    }
  /** A commit asked others to leave the container alone, was acknowledged, and a split follows. */
  | { readonly kind: 'frozen'; readonly by: Id64; readonly frozen: Frozen }
  /** Rule 5: what became of the attempts is read. */
  | { readonly kind: 'settle'; readonly attempt: Attempt; readonly isRefused: boolean; readonly clears: boolean };

/** A right neighbour that retired, and goes in with the next commit (rule 27). */
export interface Absorbing {
  /** As it was met. */
  readonly retired: Snapshot;
  /** As it was read, whole. */
  right: Snapshot | undefined;
  /** A read did not find it. */
  isGone: boolean;
  /** The neighbour's copy: any version of the leaf may link it that links the neighbour. */
  copy: { readonly header: Header; readonly attempt: Id64 } | undefined;
  isCopyThere: boolean;
  tries: number;
  /** How often in a row it was not certain that the copy is there. */
  unsureInARow: number;
}

/** Any container of a table as its process knows it: a leaf, a branch or the root. */
export interface Leaf {
  readonly id: EntityId;
  /** All that wait or are under way: a change leaves when it is settled or sent on. */
  changes: Change[];
  /** Attempts that departed and are not settled. */
  readonly open: OpenAttempts;
  readonly backoff: Backoff;
  /** The container as seen last, by a read or an acknowledgement; it may be in the cache alone. */
  known: Snapshot | undefined;
  isMissing: boolean;
  /** A read has shown it since the last commit was acknowledged, and since the last yield. */
  isFresh: boolean;
  /** Others may have split it meanwhile. */
  mustRead: boolean;
  /** Reads of pages in a row. */
  pageReads: number;
  /** Changes that one commit may carry. */
  groupCountMax: number;
  /** The provider refused the container as too large. */
  mustSplit: boolean;
  /** The write that is on its way, or waits for room. */
  underWay: Attempt | undefined;
  hasDeparted: boolean;
  isLate: boolean;
  /** A write was given up beside which another may be sent: no third is sent. */
  overdue: Attempt | undefined;
  /** Callers left before the last attempt departed, so it was not sent. */
  wasTakenBack: boolean;
  stage: Stage | undefined;
  /** What to do about other writers: asked once a round. */
  advice: Advice | undefined;
  /** Follows once the write under way is acknowledged. */
  frozen: Frozen | undefined;
  /** A split for traffic whose link was sent: lost unless it lands. */
  frozenLink: Attempt | undefined;
  /** A split whose nodes were throttled: tried again while its base is the newest. */
  throttledSplit: { readonly draft: Draft; readonly plan: SplitPlan } | undefined;
  absorbing: Absorbing | undefined;
  /** All is to be written anew without dead records, as it was seen whole. */
  purge: Snapshot | undefined;
  /** The changes of the last decision, and the container it met. */
  tried: { readonly snapshot: Snapshot; readonly group: readonly Change[] } | undefined;
  /** An attempt or a read failed: a pause may come first. */
  isPauseDue: boolean;
  pause: { readonly kind: 'backoff' | 'hints' | 'yield'; leftMs: number } | undefined;
  /** Its work is awaited though no call waits, as a vacuum's is: the first failure ends it. */
  readonly isMaintained: boolean;
  failure: { readonly error: unknown } | undefined;
  /** What its parent is to be told; whoever carries its steps out takes it from here. */
  readonly hints: EntryRepair[];
}

export function newLeaf(id: EntityId, table: string, isMaintained = false): Leaf {
  return {
    id,
    changes: [],
    open: new OpenAttempts(table),
    backoff: new Backoff(),
    known: undefined,
    isMissing: false,
    isFresh: false,
    mustRead: false,
    pageReads: 0,
    groupCountMax: GROUP_COUNT_MAX,
    mustSplit: false,
    underWay: undefined,
    hasDeparted: false,
    isLate: false,
    overdue: undefined,
    wasTakenBack: false,
    stage: undefined,
    advice: undefined,
    frozen: undefined,
    frozenLink: undefined,
    throttledSplit: undefined,
    absorbing: undefined,
    purge: undefined,
    tried: undefined,
    isPauseDue: false,
    pause: undefined,
    isMaintained,
    failure: undefined,
    hints: [],
  };
}

export function hasWork(leaf: Leaf): boolean {
  leaf.changes = leaf.changes.filter(({ isSettled }) => !isSettled);
  return leaf.changes.length > 0 || leaf.absorbing !== undefined || leaf.purge !== undefined;
}

/** Nothing waits, and nothing was begun that must be gone on with. */
export function isIdle(leaf: Leaf): boolean {
  return leaf.stage === undefined && leaf.frozenLink === undefined && !hasWork(leaf);
}

/** Whether somebody waits for what is done: nobody waits for hints. */
export function isAwaited(leaf: Leaf): boolean {
  return leaf.isMaintained || leaf.changes.some(({ isHint, isSettled }) => !isHint && !isSettled);
}

/** Whether an open attempt carries a change: sent elsewhere it might be done twice. */
export function isCarrying({ changes }: Leaf): boolean {
  return changes.some(({ isSettled, openAttempts }) => !isSettled && openAttempts > 0);
}

export function doublingsOf(leaf: Leaf): number {
  const areHints = hasWork(leaf) && !isAwaited(leaf);
  const hintRefusals = areHints ? refusalsOf(leaf.changes) : 0;
  return leaf.backoff.doublings(hintRefusals) + (leaf.absorbing?.unsureInARow ?? 0);
}

/** Which changes the next commit takes, and which belong elsewhere. */
export function sortOut({ changes, groupCountMax }: Leaf, { header }: Snapshot, table: string): SortedChanges {
  return sortChanges(changes, header, { countMax: groupCountMax, table });
}

/** A read of the container for the sake of its changes. `latest`: as it was seen last. */
export function readOf({ id }: Leaf, what: Reading, latest?: Snapshot): Step {
  return { kind: 'read', id, what, reader: 'container', latest };
}

/** Rule 27: as a search met it; the next commits take it in. */
export function newAbsorbing(retired: Snapshot): Absorbing {
  const right = retired.header.pages.every(({ content }) => content.isKnown) ? retired : undefined;
  return { retired, right, isGone: false, copy: undefined, isCopyThere: false, tries: 0, unsureInARow: 0 };
}
