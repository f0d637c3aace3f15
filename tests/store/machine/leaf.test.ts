// The rules of one container as rows: what it knew and met, how that settled the change, and what
// step follows. There is no provider, no clock and no promise around it.
import { expect, test } from 'vitest';
import type { Attempt } from '../../../shared/store/container/attempts.ts';
import type { Change, Verdict } from '../../../shared/store/container/change.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { WriteOutcome } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { appendCommitId, type Header } from '../../../shared/store/format/header.ts';
import { type Id64, ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { newCounters } from '../../../shared/store/system/tracing.ts';
import { departs } from '../../../shared/store/machine/commit.ts';
import { newContention } from '../../../shared/store/machine/contention.ts';
import { type Event, Leaf, type Step, type World } from '../../../shared/store/machine/leaf.ts';
import { nextStep } from '../../../shared/store/machine/next-step.ts';
import { tell } from '../../../shared/store/machine/tell.ts';
import { entityVersion, hexId } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { change, put } from '../container/changes.ts';
import { RULES, snapshotWith, TABLE } from '../container/nodes.ts';

const OTHERS = hexId('dddddddddddddddd');
const ROOT = { container: ROOT_CONTAINER };
const REFUSED: WriteOutcome = { kind: 'refused', reason: 'condition' };
const UNKNOWN: WriteOutcome = { kind: 'unknown', reason: 'other' };
const THROTTLED: WriteOutcome = { kind: 'refused', reason: 'throttled', cause: new StoreError('throttled', 'said') };
const DENIED: WriteOutcome = {
  kind: 'refused',
  reason: 'denied',
  cause: new StoreError('unavailable', 'said', { retryable: false }),
};
const UNSENT: WriteOutcome = { kind: 'refused', reason: 'unsent', cause: new StoreError('unavailable', 'said') };

const WAY = {
  reads: { roundTripMs: 10 },
  commits: { roundTripMs: 10, meanRoundTripMs: 10 },
  commitsWait: false,
};

/** A leaf at its first commit, its changes by name, and what became of them. */
class Played {
  readonly leaf: Leaf;
  readonly base: Snapshot;
  readonly told = new Map<string, string>();
  readonly changes = new Map<string, Change>();
  readonly #world: World;
  #nowMs = 0;
  #tick = 10;
  #sent = { tick: 0, wallMs: 0, monotonicMs: 0 };
  #step: Step | undefined;

  constructor(header: Partial<Header> = {}) {
    this.base = snapshotWith(header);
    this.leaf = new Leaf(this.base.id, TABLE);
    this.leaf.known = this.base;
    const runtime = new VirtualRuntime();
    this.#world = {
      table: TABLE,
      counters: newCounters(),
      rules: { ...RULES, splitLimits: RULES.limits },
      cache: new ContainerCache(1_000_000),
      contention: newContention('0000', WAY),
      runtime,
      tag: '0000',
    };
  }

  /** Brings a change per name, which is its key. Their calls end at `dueMs`. */
  come(names: readonly string[], dueMs = 30_000, make: (name: string, more: object) => Change = putOf): this {
    const changes = names.map((name) => {
      const settled = (_: number, verdict: Verdict): void => void this.told.set(name, wordOf(verdict));
      const made = make(name, { dueMs, begunTick: 5, sink: { settled } });
      this.changes.set(name, made);
      return made;
    });
    return this.event({ kind: 'came', changes, retired: undefined });
  }

  event(event: Event): this {
    this.#tick += 1;
    this.#step = tell(this.leaf, event, this.#here);
    return this;
  }

  after(ms: number): this {
    this.#nowMs += ms;
    return this;
  }

  get #here() {
    return { world: this.#world, now: { tick: this.#tick, wallMs: this.#nowMs, monotonicMs: this.#nowMs } };
  }

  next(): Step {
    this.#step ??= nextStep(this.leaf, this.#here);
    const step = this.#step;
    this.#step = undefined;
    return step;
  }

  /** Lets the next write depart. */
  departed(): Attempt {
    const step = this.next();
    if (step.kind !== 'write') throw new Error(`a write was to come next, not ${step.kind}`);
    departs(this.leaf, step.attempt);
    this.#sent = this.#here.now;
    return step.attempt;
  }

  /** The write under way is not answered in time, so that a read asks after it. */
  late(): this {
    this.event({ kind: 'late' }).next();
    return this;
  }

  answered(attempt: Attempt, outcome: WriteOutcome): this {
    return this.event({ kind: 'answered', attempt, outcome, sent: this.#sent });
  }

  /** A read shows the container after these commits; without any, as it was. */
  shown(ids: readonly string[], purpose: 'container' | 'late write' | 'doubt' = 'container'): this {
    const commitIds = ids.reduce((all, id) => appendCommitId(all, hexId(id)), this.base.header.commitIds);
    const commitCount = this.base.header.commitCount + ids.length;
    const snapshot = { ...snapshotWith({ ...this.base.header, commitCount, commitIds }, this.#tick), id: this.base.id };
    return this.event({
      kind: 'shown',
      purpose,
      snapshot: ids.length === 0 ? { ...snapshot, lastCommit: this.base.lastCommit } : snapshot,
    });
  }

  /** So many commits of others came since that the attempt's place has left the list of ids. */
  shownMuchLater(): this {
    const snapshot = {
      ...snapshotWith({ commitCount: 900, commitIds: Buffer.from(OTHERS, 'hex') }, this.#tick),
      id: this.base.id,
    };
    return this.event({ kind: 'shown', purpose: 'container', snapshot });
  }

  missing(): this {
    return this.event({ kind: 'shown', purpose: 'container', snapshot: undefined });
  }

  get settled(): Record<string, string> {
    return Object.fromEntries(this.told);
  }
}

function putOf(name: string, more: object): Change {
  const { action } = put(name, 1);
  return change(name, action, more);
}

function wordOf(verdict: Verdict): string {
  if (verdict.kind !== 'failed') return verdict.kind;
  return verdict.error instanceof StoreError ? verdict.error.code : 'failed';
}

function told(step: Step): string {
  if (step.kind === 'read') return `read for the ${step.purpose}`;
  return step.kind === 'send on' ? `send on: ${step.way}` : step.kind;
}

/** Commit 2 on version 1, which carries the change `a`, has departed, and this follows. */
function departed(then: (played: Played, attempt: Attempt) => Played, dueMs?: number) {
  return (): Played => {
    const played = new Played().come(['a'], dueMs);
    return then(played, played.departed());
  };
}

/** That commit was answered. A row may go on with what a read shows then. */
function answered(outcome: WriteOutcome, then = (played: Played, _id: Id64): Played => played) {
  return departed((played, attempt) => then(played.answered(attempt, outcome), attempt.id));
}

/** A change that alters nothing comes. */
function unchanged(): Played {
  return new Played().come(['a'], 30_000, (name, more) => change(name, () => ({ kind: 'none' }), more));
}

/** Its leaf asks whether memory is up to date. */
function checked(isCurrent: boolean): Played {
  const played = unchanged();
  played.next();
  return played.event({ kind: 'checked', isCurrent });
}

const UNREAD: Event = { kind: 'failed', purpose: 'late write', error: new StoreError('unavailable', 'said') };

type Row = readonly [rule: number, when: string, play: () => Played, settled: string | undefined, next: string];

const ROWS: readonly Row[] = [
  [3, 'a commit is acknowledged', answered({ kind: 'written', version: entityVersion('2') }), 'applied', 'idle'],
  [5, 'a commit is refused', answered(REFUSED), undefined, 'read for the container'],
  [3, 'a refused one turns out to be commit 2', answered(REFUSED, (p, id) => p.shown([id])), 'applied', 'idle'],
  [3, 'another followed commit 2', answered(UNKNOWN, (p, id) => p.shown([id, OTHERS])), 'applied', 'idle'],
  [3, 'commit 2 is another’s', answered(REFUSED, (p) => p.shown([OTHERS])), undefined, 'write'],
  [3, 'its id is that of commit 3', answered(REFUSED, (p, id) => p.shown([OTHERS, id])), undefined, 'write'],
  [3, 'one of unknown fate may land yet', answered(UNKNOWN, (p) => p.shown([])), undefined, 'pause'],
  [3, 'a refused one may land yet, too', answered(REFUSED, (p) => p.shown([])), undefined, 'pause'],
  [3, 'the list lost the place of an unknown one', answered(UNKNOWN, (p) => p.shownMuchLater()), 'unknown', 'idle'],
  [3, 'the list lost the place of a refused one', answered(REFUSED, (p) => p.shownMuchLater()), undefined, 'write'],
  [3, 'a write is late', departed((p) => p.event({ kind: 'late' })), undefined, 'read for the late write'],
  [3, 'a late write has landed', departed((p, { id }) => p.late().shown([id], 'late write')), 'applied', 'idle'],
  // It is given up for another beside it.
  [3, 'it has not', departed((p) => p.late().shown([], 'late write')), undefined, 'read for the container'],
  [3, 'a read after a late write fails', departed((p) => p.late().event(UNREAD)), undefined, 'answer'],
  [4, 'the container of an open attempt is missing', answered(UNKNOWN, (p) => p.missing()), 'unknown', 'idle'],
  [4, 'the container of a refused attempt is missing', answered(REFUSED, (p) => p.missing()), 'unknown', 'idle'],
  [6, 'nothing changes, by memory', unchanged, undefined, 'check'],
  [6, 'nothing changes, and memory is up to date', () => checked(true), 'unchanged', 'idle'],
  [6, 'nothing changes, but there was a commit since', () => checked(false), undefined, 'read for the container'],
  [7, 'a commit is throttled, and its caller has time', answered(THROTTLED), undefined, 'pause'],
  [7, 'its caller has none', departed((p, one) => p.answered(one, THROTTLED), 1), undefined, 'read for the doubt'],
  [7, 'nothing of a commit has left', answered(UNSENT), undefined, 'pause'],
  [7, 'nor has it for long', departed((p, one) => p.after(6_000).answered(one, UNSENT)), 'unavailable', 'idle'],
  [7, 'the provider denies access', answered(DENIED), 'unavailable', 'idle'],
  [15, 'a root is missing', () => new Played(ROOT).come(['a']).missing(), undefined, 'send on: missing'],
  [28, 'a leaf is missing', () => new Played().come(['a']).missing(), undefined, 'send on: left'],
];

test.each(ROWS)('rule %i: %s', (...[, , play, settled, next]) => {
  const played = play();
  const step = told(played.next());
  expect({ settled: played.settled['a'], next: step }).toEqual({ settled, next });
});

test('rule 3: a caller who leaves before the write departs takes it back, and hears no other', () => {
  const played = new Played().come(['a', 'b']);
  while (played.next().kind === 'turn') played.event({ kind: 'pause over' });
  const attempt = played.leaf.underWay!;
  played.changes.get('a')!.settle({ kind: 'failed', error: new StoreError('aborted', 'said') });
  expect(attempt.changes).toHaveLength(2);
  played.answered(attempt, { kind: 'taken back' } as never);
  let step = played.next();
  while (step.kind === 'turn') step = played.next();
  expect(step.kind === 'write' && step.attempt.changes).toEqual([played.changes.get('b')]);
});

test.each([
  [0, 'write'],
  [400, 'pause'],
])('a commit to a container that asks for a freeze of %i ms begins with a %s', (freezeMs, step) => {
  expect(told(new Played({ freezeMs }).come(['a']).next())).toBe(step);
});
