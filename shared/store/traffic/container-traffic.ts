// One container's traffic, as one process saw it. Each event is told once; the rest is derived.
import type { Change } from '../container/change.ts';
import { Rate } from './rate.ts';
import { Sharing } from './sharing.ts';
import { WARY_COMMITS, WriterOrder } from './writer-order.ts';

/** Rates average over about this time: long against two writes, short against a rush. */
export const HORIZON_MS = 5_000;
/** A look is due after so many commits in a row: others that read first have no chance. */
const COMMITS_BEFORE_LOOK = 32;
/** The pause after a split that failed; it doubles up to a quarter of an hour. */
const LOST_SPLIT_FIRST_MS = 1_000;
const LOST_SPLIT_DOUBLINGS_MOST = 10;

interface CommitMoment {
  readonly nowMs: number;
  readonly roundTripMs: number;
  readonly seldom: Sharing;
}

export class ContainerTraffic {
  readonly order = new WriterOrder();
  /** What its changes cost since it was split last. */
  sharing = new Sharing();
  /** Commits of other processes. */
  foreign = new Rate();
  #commits = new Rate();
  #lastCommitMs: number;
  #commitsSinceLook = 0;
  /** Looks still to be taken because one met a commit of others. */
  #looksDue = 0;
  #lostSplits = 0;
  #noSplitBeforeMs = 0;
  #commitsAlone = 0;
  /** How long the last commit was on its way. */
  #answerMs = 0;
  #lastAnswerMs = 0;

  constructor(nowMs: number) {
    this.#lastCommitMs = nowMs;
  }

  /** As `Traffic.noteLook`. A look that is older than the one before says nothing of rates. */
  noteLook(
    { foreignCommits, ms, wasSplit }: { foreignCommits: number; ms: number; wasSplit: boolean },
    nowMs: number,
  ): void {
    if (foreignCommits > 0) this.order.noteForeign();
    if (wasSplit) return this.forget(nowMs);
    if (!(ms > 0)) return;
    this.foreign.add(foreignCommits, ms, HORIZON_MS);
    this.#commitsSinceLook = 0;
    this.#looksDue = foreignCommits > 0 ? WARY_COMMITS : Math.max(0, this.#looksDue - 1);
  }

  /** As `Traffic.noteCommit`. `seldom`: the costs of leaves like it. */
  noteCommit(changes: readonly Change[], { nowMs, roundTripMs, seldom }: CommitMoment): void {
    this.sharing.noteCommit(changes, nowMs, roundTripMs, seldom);
    if (this.order.meetsOthers) this.sharing.notePosition(changes);
    this.#commits.add(1, Math.max(0, nowMs - this.#lastCommitMs), HORIZON_MS);
    this.#lastCommitMs = nowMs;
    this.#commitsSinceLook += 1;
    this.#commitsAlone = Math.max(0, this.#commitsAlone - 1);
    this.order.noteCommit();
  }

  /** As `Traffic.noteRoundTrip`. */
  noteAnswer(ms: number, nowMs: number): void {
    this.#answerMs = ms;
    this.#lastAnswerMs = nowMs;
  }

  noteFailure(isRefused: boolean): void {
    this.#commitsAlone = WARY_COMMITS;
    if (isRefused) this.order.noteRefusal();
  }

  /** The next split needs as much evidence again, and twice the time after each. */
  noteLostSplit(nowMs: number): void {
    const lostSplits = this.#lostSplits + 1;
    this.forget(nowMs);
    this.#lostSplits = lostSplits;
    this.#noSplitBeforeMs = nowMs + LOST_SPLIT_FIRST_MS * (1 << Math.min(LOST_SPLIT_DOUBLINGS_MOST, lostSplits - 1));
  }

  /** The container was split: what was seen of it says little of what is left. */
  forget(nowMs: number, foreign = new Rate()): void {
    this.foreign = foreign;
    this.sharing = new Sharing();
    this.#commits = new Rate();
    this.#lastCommitMs = nowMs;
    this.#commitsSinceLook = 0;
    this.#looksDue = 0;
    this.#answerMs = 0;
    this.#lostSplits = 0;
    this.#noSplitBeforeMs = 0;
  }

  /** Whether this process commits in a row for so long that others may wait. */
  get isLookDue(): boolean {
    return this.#commitsSinceLook > 0 && (this.#looksDue > 0 || this.#commitsSinceLook >= COMMITS_BEFORE_LOOK);
  }

  get sendsAlone(): boolean {
    return this.#commitsAlone > 0;
  }

  /** 0 before the first, and a while after the last: a line is of its moment. */
  answerMs(nowMs: number): number {
    return nowMs - this.#lastAnswerMs < HORIZON_MS ? this.#answerMs : 0;
  }

  /** Commits of all processes. */
  get commitsPerMs(): number {
    return this.foreign.perMs() + this.#commits.perMs();
  }

  maySplit(nowMs: number): boolean {
    return nowMs >= this.#noSplitBeforeMs;
  }
}
