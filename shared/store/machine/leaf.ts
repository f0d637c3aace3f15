// The state of one container in one process, and the steps and events that move it, as plain data.
// Nothing in this room waits: a runner carries out each step and tells the event that came of it.
import { type Attempt, OpenAttempts, refusalsOf } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import type { Evaluation, UnsealedEvaluation } from '../container/evaluate.ts';
import type { CommitRules, Plan } from '../container/plan-commit.ts';
import { isWhole, type Snapshot } from '../container/snapshot.ts';
import { sortChanges, type SortedChanges } from '../container/decide.ts';
import type { EntityId, Write, WriteOutcome } from '../contract/driver.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Moment, Runtime } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import type { Position } from '../format/position.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Counted } from '../system/tracing.ts';
import type { TakenBack } from '../io/requests.ts';
import type { Advice, Contention } from './contention.ts';

/** The most changes in one commit: bounds memory, and an evaluation to some 20 ms. */
export const GROUP_COUNT_MAX = 5_000;

/** What a decision may use besides the container itself. None of it waits. */
export interface World extends Counted {
  readonly rules: CommitRules;
  readonly cache: ContainerCache;
  readonly contention: Contention;
  readonly runtime: Pick<Runtime, 'random'>;
  /** Begins the ids of all attempts of this process. */
  readonly tag: string;
}

/** The world at the moment of a decision or an event. */
export interface Present {
  readonly world: World;
  readonly now: Moment;
}

/** A routing entry as it should be: `child` begins at the separator or to its left. */
export interface EntryRepair {
  /** Of the branch that holds the entry. */
  readonly level: number;
  readonly incarnation: Id64;
  readonly separator: Position;
  readonly child: Id64;
  /** The child that the entry wrongly names (rule 29); undefined: the entry is added (rule 11). */
  readonly instead: Id64 | undefined;
}

/**
 * What to read. `unknown`: the whole container if those of its table are small, else its header;
 * `intact`: the whole; numbers: header and the pages in these slots.
 */
export type Reading = 'unknown' | 'intact' | readonly number[];

/** What a read is for, which decides what its reply or its failure means. */
type Purpose = 'container' | 'neighbour' | 'late write' | 'doubt';

export type Step =
  /** Nothing to do, and nothing under way. */
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'read';
      readonly id: EntityId;
      readonly what: Reading;
      readonly purpose: Purpose;
      readonly latest?: Snapshot | undefined;
      /** The read counts as failed after this time. */
      readonly withinMs?: number;
    }
  /** Asks whether the container still has this version. */
  | { readonly kind: 'check'; readonly snapshot: Snapshot }
  | { readonly kind: 'pause'; readonly ms: number; readonly canBeWoken: boolean }
  /** Lets the event loop run; more work follows. */
  | { readonly kind: 'turn' }
  | {
      readonly kind: 'insert';
      readonly headers: readonly Header[];
      readonly attempt: Id64;
      readonly withinMs: number | undefined;
    }
  | { readonly kind: 'write'; readonly write: Write; readonly attempt: Attempt; readonly isAlone: boolean }
  /** Waits for the answer of the write under way. */
  | { readonly kind: 'answer' }
  | {
      readonly kind: 'send on';
      /** Beyond the node; to its left; from a root read anew; or after a branch was missing. */
      readonly way: 'right' | 'left' | 'again' | 'missing';
      readonly node: Snapshot | undefined;
      readonly changes: readonly Change[];
    };

export interface InsertedNode {
  readonly header: Header;
  /** Undefined if its version is not known, as a read showed it before the reply. */
  readonly snapshot: Snapshot | undefined;
}

export type Event =
  | { readonly kind: 'came'; readonly changes: readonly Change[]; readonly retired: Snapshot | undefined }
  /** A read was answered; `snapshot` undefined: the container is missing. */
  | { readonly kind: 'shown'; readonly purpose: Purpose; readonly snapshot: Snapshot | undefined }
  | { readonly kind: 'checked'; readonly isCurrent: boolean }
  /** A read, an insert or a decision failed. */
  | { readonly kind: 'failed'; readonly purpose: Purpose | undefined; readonly error: unknown }
  | {
      readonly kind: 'inserted';
      /** Undefined if one of them may not be there. */
      readonly nodes: readonly InsertedNode[] | undefined;
      readonly refusal: StoreError | undefined;
    }
  | { readonly kind: 'pause over' }
  | {
      readonly kind: 'answered';
      readonly attempt: Attempt;
      readonly outcome: WriteOutcome | TakenBack;
      /** When it began to wait for its place among the requests. */
      readonly sent: Moment;
    }
  /** The write under way has waited so long for its answer that it may be lost. */
  | { readonly kind: 'late' };

/** An attempt whose header is not made yet. */
export type Draft = Omit<Attempt, 'header'>;

export type SplitPlan = Extract<Plan, { readonly kind: 'split' }>;

/** The content of one commit. */
export interface Group {
  /** The container as the provider has it. */
  readonly snapshot: Snapshot;
  /** What the changes are applied to: the snapshot, or the snapshot joined with its neighbour. */
  readonly base: Snapshot;
  /** In order of position, all within the base. */
  readonly changes: readonly Change[];
  /** When the attempt is made: it alone decides which records have expired. */
  readonly now: Moment;
  /** Work to be done even if the changes turn out to change nothing. */
  readonly maintenance?: Maintenance | undefined;
  /** The layer to write, if compaction is planned already. */
  readonly target?: number | undefined;
  readonly mergesAll?: boolean;
  /** Set for the split that follows a commit which asked others to leave the container alone. */
  readonly frozen?: Frozen;
}

/** A split that others are asked to wait for: into how many nodes, and how long they wait. */
export type Frozen = Pick<Advice, 'splitInto' | 'freezeMs'>;

/** Absorbing the right neighbour, or writing all pages anew without dead records. */
export type Maintenance = { readonly mustReplace: boolean } | 'purge';

/**
 * Where an attempt of several steps stands, and what follows. A failed read or insert ends each.
 *
 * - `laid`, then a write or a split; or `negatives` if nothing changes.
 * - `negatives`: if the version is the same, the verdicts are told; else a read and a new round.
 * - `split`: if the version is the same, the nodes are inserted and the link is written. With
 *   another version, or a node that may be missing, a new round follows.
 * - `fate`: a read tells what became of the open attempts, and a new round follows.
 * - `frozen`: the split is laid out, unless the container has changed since.
 */
export type Stage =
  | { readonly kind: 'laid'; readonly group: Group; readonly unsealed: UnsealedEvaluation }
  /** Rule 6: nothing changes, which needs proof from after the calls began. */
  | { readonly kind: 'negatives'; readonly group: Group; readonly evaluation: Evaluation }
  /** Rules 8 to 10: the version is checked, then the nodes are inserted, then linked. */
  | {
      readonly kind: 'split';
      readonly draft: Draft;
      readonly plan: SplitPlan;
      readonly isChecked: boolean;
      /** A split for contention is given up after this time. */
      readonly withinMs: number | undefined;
      readonly isKept: boolean;
    }
  /**
   * The commit that asked others to leave the container alone was acknowledged; a split follows.
   */
  | { readonly kind: 'frozen'; readonly by: Id64; readonly frozen: Frozen }
  /** Rule 5: a read will tell what became of the attempts. */
  | { readonly kind: 'fate'; readonly attempt: Attempt; readonly isRefused: boolean; readonly clears: boolean };

/** A retired right neighbour, which the next commit absorbs (rule 27). */
export class Absorbing {
  /** As a search met it. */
  readonly retired: Snapshot;
  /** As it was read whole. */
  right: Snapshot | undefined;
  /** Whether a read found it missing. */
  isMissing = false;
  /** A copy of the neighbour, for a pair too large to join. */
  copy: { readonly header: Header; readonly attempt: Id64 } | undefined;
  isCopyThere = false;
  tries = 0;
  /** How many inserts of the copy in a row ended without certainty that it is stored. */
  unsureInARow = 0;

  constructor(retired: Snapshot) {
    this.retired = retired;
    if (isWhole(retired.header)) this.right = retired;
  }
}

/** One container that has work: a leaf, a branch or the root. */
export class Leaf {
  readonly id: EntityId;
  /** The changes that wait or are under way, until they are settled or sent on. */
  changes: Change[] = [];
  /** The attempts that have departed and are not settled. */
  readonly open: OpenAttempts;
  readonly backoff = new Backoff();
  /** The container as a read or an acknowledgement last showed it; undefined: ask the cache. */
  known: Snapshot | undefined;
  isMissing = false;
  /** A read has shown it since the last acknowledged commit and since the last yield. */
  wasReadSince = false;
  /** The process yielded, so others may have changed or split it. */
  mustRead = false;
  /** How many reads of pages followed each other. */
  pageReads = 0;
  /** The most changes that the next commit may carry. */
  groupCountMax = GROUP_COUNT_MAX;
  /** The provider refused the container as too large. */
  mustSplit = false;
  /** The write that is on its way, or waits for its place among the requests. */
  underWay: Attempt | undefined;
  hasDeparted = false;
  isLate = false;
  /** A write whose answer is no longer waited for. Beside it one more may be sent, but no third. */
  overdue: Attempt | undefined;
  /** The last attempt was not sent, because a caller left before it departed. */
  wasTakenBack = false;
  stage: Stage | undefined;
  /** What to do about other writers in this round. */
  advice: Advice | undefined;
  /** The split that follows once the write under way is acknowledged. */
  frozen: Frozen | undefined;
  /** The link of a split for contention, from when it is sent until it has landed. */
  frozenLink: Attempt | undefined;
  /**
   * A split whose inserts were throttled. It is tried again while its base is the newest version.
   */
  throttledSplit: { readonly draft: Draft; readonly plan: SplitPlan } | undefined;
  absorbing: Absorbing | undefined;
  /** The whole container, to be written anew without its dead records. */
  purge: Snapshot | undefined;
  /** The changes that the last decision was about, and the container that it was made for. */
  tried: { readonly snapshot: Snapshot; readonly group: readonly Change[] } | undefined;
  /** An attempt or a read failed, so a pause may be due. */
  isPauseDue = false;
  pause: { readonly kind: 'backoff' | 'entry repairs' | 'yield'; leftMs: number } | undefined;
  /** A vacuum waits for the work, though no change does. The first failure ends it. */
  readonly isMaintained: boolean;
  failure: { readonly error: unknown } | undefined;
  /** What its parent should be told; the runner takes it from here. */
  readonly entryRepairs: EntryRepair[] = [];

  constructor(id: EntityId, table: string, isMaintained = false) {
    this.id = id;
    this.isMaintained = isMaintained;
    this.open = new OpenAttempts(table);
  }
}

export function hasWork(leaf: Leaf): boolean {
  leaf.changes = leaf.changes.filter(({ isSettled }) => !isSettled);
  return leaf.changes.length > 0 || leaf.absorbing !== undefined || leaf.purge !== undefined;
}

/** Whether no work waits and none has been begun. */
export function isIdle(leaf: Leaf): boolean {
  return leaf.stage === undefined && leaf.frozenLink === undefined && !hasWork(leaf);
}

/** Whether a caller or a vacuum waits for the work; nobody waits for entry repairs. */
export function isAwaited(leaf: Leaf): boolean {
  return leaf.isMaintained || leaf.changes.some(({ isEntryRepair, isSettled }) => !isEntryRepair && !isSettled);
}

/** Whether an open attempt carries a change, which therefore must not be sent elsewhere. */
export function isCarrying({ changes }: Leaf): boolean {
  return changes.some(({ isSettled, openAttempts }) => !isSettled && openAttempts > 0);
}

export function doublingsOf(leaf: Leaf): number {
  const areEntryRepairs = hasWork(leaf) && !isAwaited(leaf);
  const repairRefusals = areEntryRepairs ? refusalsOf(leaf.changes) : 0;
  return leaf.backoff.doublings(repairRefusals) + (leaf.absorbing?.unsureInARow ?? 0);
}

/** Which changes the next commit takes, and which belong elsewhere. */
export function sortOut({ changes, groupCountMax }: Leaf, { header }: Snapshot, table: string): SortedChanges {
  return sortChanges(changes, header, { countMax: groupCountMax, table });
}

/** A read of the container for its changes. `latest`: as it was last seen. */
export function readOf({ id }: Leaf, what: Reading, latest?: Snapshot): Step {
  return { kind: 'read', id, what, purpose: 'container', latest };
}

const COMMIT_PAUSE_FIRST_MS = 5;
const COMMIT_PAUSE_MOST_MS = 500;
/** Throttled commits pause longer, since every user of the account is in the way. */
const THROTTLED_DOUBLINGS = 3;
const THROTTLED_PAUSE_MOST_MS = 5_000;
/**
 * Refused entry repairs pause longer, since many processes may repair one branch and no caller
 * waits.
 */
const ENTRY_REPAIR_DOUBLINGS = 3;
const ENTRY_REPAIR_PAUSE_MOST_MS = 10_000;
/** If nothing could be sent for so long, the next pause included, the callers are told. */
const UNSENT_MOST_MS = 5_000;
/** 2 to this power is beyond every pause. */
const DOUBLINGS_MOST = 20;

/** The failures of one container's queue since its last acknowledged commit. */
class Backoff {
  /** Attempts and reads that failed, without refused and throttled ones. */
  failuresInARow = 0;
  #throttledInARow = 0;
  #unsentInARow = 0;
  #unsentSinceMs = Infinity;
  /** Why the last attempt was turned away or could not be sent; undefined if it was accepted. */
  throttling: StoreError | undefined;

  /** `refusal`: what the provider answered. */
  noteThrottled(refusal = this.throttling): void {
    this.noteSent();
    this.#throttledInARow += 1;
    this.throttling = refusal;
  }

  /** An attempt could not be sent. True once that has lasted too long to go on. */
  noteUnsent(why: StoreError, sentMs: number, nowMs: number): boolean {
    this.#unsentInARow += 1;
    this.#unsentSinceMs = Math.min(this.#unsentSinceMs, sentMs);
    this.throttling = why;
    if (why.retryable && nowMs + COMMIT_PAUSE_MOST_MS < this.#unsentSinceMs + UNSENT_MOST_MS) return false;
    this.noteSent();
    return true;
  }

  /** An attempt was sent: what stood in the way before is gone. */
  noteSent(): void {
    this.#unsentInARow = 0;
    this.#unsentSinceMs = Infinity;
    this.throttling = undefined;
  }

  end(): void {
    this.failuresInARow = 0;
    this.#throttledInARow = 0;
    this.noteSent();
  }

  /**
   * How often the pause doubles; 0: no pause. `repairRefusals`: if only entry repairs wait, their
   * refusals.
   */
  doublings(repairRefusals: number): number {
    const throttled = this.#throttledInARow > 0 ? THROTTLED_DOUBLINGS + this.#throttledInARow : 0;
    const refusedRepairs = repairRefusals > 0 ? ENTRY_REPAIR_DOUBLINGS + repairRefusals : 0;
    return this.failuresInARow + this.#unsentInARow + throttled + refusedRepairs;
  }

  /** The pause with full jitter, after what the provider asks for. `share`: drawn from 0 to 1. */
  pauseMs(doublings: number, areEntryRepairs: boolean, share: number): number {
    const awaitedMost = this.#throttledInARow > 0 ? THROTTLED_PAUSE_MOST_MS : COMMIT_PAUSE_MOST_MS;
    const ceiling = COMMIT_PAUSE_FIRST_MS * 2 ** Math.min(DOUBLINGS_MOST, doublings);
    const jittered = share * Math.min(areEntryRepairs ? ENTRY_REPAIR_PAUSE_MOST_MS : awaitedMost, ceiling);
    return (this.throttling?.retryAfterMs ?? 0) + jittered;
  }
}
