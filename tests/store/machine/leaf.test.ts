// The rules of one container as rows: what it knew, what came, whom that settled, and the step that
// follows. There is no provider, no clock and no promise around it.
import { expect, test } from 'vitest';
import type { Attempt } from '../../../shared/store/container/attempts.ts';
import type { Change, Verdict } from '../../../shared/store/container/change.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { WriteOutcome } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { appendCommitId } from '../../../shared/store/format/header.ts';
import { ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { newCounters } from '../../../shared/store/io/counters.ts';
import { departs } from '../../../shared/store/machine/commit.ts';
import { newContention } from '../../../shared/store/machine/contention.ts';
import { type Event, type Leaf, newLeaf, type Step, type World } from '../../../shared/store/machine/leaf.ts';
import { nextStep } from '../../../shared/store/machine/next-step.ts';
import { tell } from '../../../shared/store/machine/tell.ts';
import { entityVersion, hexId } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { change, put } from '../container/changes.ts';
import { RULES, snapshotWith, TABLE } from '../container/nodes.ts';

const OTHERS = hexId('dddddddddddddddd');
const REFUSED: WriteOutcome = { kind: 'refused', reason: 'condition' };
const UNKNOWN: WriteOutcome = { kind: 'unknown', reason: 'other' };
const THROTTLED: WriteOutcome = { kind: 'refused', reason: 'throttled', cause: new StoreError('throttled', 'said') };
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

  constructor({ isRoot = false } = {}) {
    this.base = snapshotWith(isRoot ? { container: ROOT_CONTAINER } : {});
    this.leaf = newLeaf(this.base.id, TABLE);
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

  /** Changes come; each name is its key. `dueMs`: when their calls end. */
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

  /** The write that comes next departs. */
  departed(): Attempt {
    const step = this.next();
    if (step.kind !== 'write') throw new Error(`a write was to come next, not ${step.kind}`);
    departs(this.leaf, step.attempt);
    this.#sent = this.#here.now;
    return step.attempt;
  }

  /** The write under way is not answered in time, and is asked after. */
  late(): this {
    this.event({ kind: 'late' }).next();
    return this;
  }

  answered(attempt: Attempt, outcome: WriteOutcome): this {
    return this.event({ kind: 'answered', attempt, outcome, sent: this.#sent });
  }

  /** A read's reply: the container after these commits; none: it is as it was. */
  shown(ids: readonly string[], reader: 'container' | 'late write' | 'doubt' = 'container'): this {
    const commitIds = ids.reduce((all, id) => appendCommitId(all, hexId(id)), this.base.header.commitIds);
    const commitCount = this.base.header.commitCount + ids.length;
    const snapshot = { ...snapshotWith({ ...this.base.header, commitCount, commitIds }, this.#tick), id: this.base.id };
    return this.event({
      kind: 'shown',
      reader,
      snapshot: ids.length === 0 ? { ...snapshot, lastCommit: this.base.lastCommit } : snapshot,
    });
  }

  /** The ids of its commits end before that of the attempt: so many others came since. */
  shownMuchLater(): this {
    const snapshot = {
      ...snapshotWith({ commitCount: 900, commitIds: Buffer.from(OTHERS, 'hex') }, this.#tick),
      id: this.base.id,
    };
    return this.event({ kind: 'shown', reader: 'container', snapshot });
  }

  missing(): this {
    return this.event({ kind: 'shown', reader: 'container', snapshot: undefined });
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

/** As a row of the table has it. */
function told(step: Step): string {
  if (step.kind === 'read') return `read for the ${step.reader}`;
  return step.kind === 'send on' ? `send on: ${step.way}` : step.kind;
}

/** A has departed as commit 2 on version 1. */
function underWay(names: readonly string[] = ['a'], dueMs = 30_000) {
  const played = new Played().come(names, dueMs);
  return { played, attempt: played.departed() };
}

interface Row {
  readonly rule: string;
  readonly when: string;
  readonly play: () => Played;
  readonly settled: Record<string, string>;
  readonly next: string;
}

const ROWS: readonly Row[] = [
  {
    rule: '3',
    when: 'a commit is acknowledged',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, { kind: 'written', version: entityVersion('2') });
    },
    settled: { a: 'applied' },
    next: 'idle',
  },
  {
    rule: '5',
    when: 'a commit is refused',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, REFUSED);
    },
    settled: {},
    next: 'read for the container',
  },
  {
    rule: '3',
    when: 'a refused one turns out to be commit 2',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, REFUSED).shown([attempt.id]);
    },
    settled: { a: 'applied' },
    next: 'idle',
  },
  {
    rule: '3',
    when: 'commit 2 is another’s',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, REFUSED).shown([OTHERS]);
    },
    settled: {},
    next: 'write',
  },
  {
    rule: '3',
    when: 'one of unknown fate may land yet',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, UNKNOWN).shown([]);
    },
    settled: {},
    next: 'pause',
  },
  {
    rule: '3',
    when: 'the place of one of unknown fate has left the list',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, UNKNOWN).shownMuchLater();
    },
    settled: { a: 'unknown' },
    next: 'idle',
  },
  {
    rule: '3',
    when: 'the place of a refused one has left the list',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, REFUSED).shownMuchLater();
    },
    settled: {},
    next: 'write',
  },
  {
    rule: '3',
    when: 'a write is not answered in time',
    play: () => underWay().played.event({ kind: 'late' }),
    settled: {},
    next: 'read for the late write',
  },
  {
    rule: '3',
    when: 'a late write has landed',
    play: () => {
      const { played, attempt } = underWay();
      return played.late().shown([attempt.id], 'late write');
    },
    settled: { a: 'applied' },
    next: 'idle',
  },
  {
    rule: '3',
    when: 'a late write has not landed, and is given up for another beside it',
    play: () => underWay().played.late().shown([], 'late write'),
    settled: {},
    next: 'read for the container',
  },
  {
    rule: '3',
    when: 'a read after a late write fails',
    play: () => {
      const error = new StoreError('unavailable', 'said');
      return underWay().played.late().event({ kind: 'failed', reader: 'late write', error });
    },
    settled: {},
    next: 'answer',
  },
  {
    rule: '4',
    when: 'the container of an open attempt is missing',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, UNKNOWN).missing();
    },
    settled: { a: 'unknown' },
    next: 'idle',
  },
  {
    rule: '6',
    when: 'nothing changes, by memory',
    play: () => new Played().come(['a'], 30_000, updateOf),
    settled: {},
    next: 'check',
  },
  {
    rule: '6',
    when: 'nothing changes, and memory is up to date',
    play: () => {
      const played = new Played().come(['a'], 30_000, updateOf);
      played.next();
      return played.event({ kind: 'checked', isCurrent: true });
    },
    settled: { a: 'unchanged' },
    next: 'idle',
  },
  {
    rule: '6',
    when: 'nothing changes, but there was a commit since',
    play: () => {
      const played = new Played().come(['a'], 30_000, updateOf);
      played.next();
      return played.event({ kind: 'checked', isCurrent: false });
    },
    settled: {},
    next: 'read for the container',
  },
  {
    rule: '7',
    when: 'a commit is throttled, and its caller has time',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, THROTTLED);
    },
    settled: {},
    next: 'pause',
  },
  {
    rule: '7',
    when: 'a commit is throttled, and its caller has none',
    play: () => {
      const { played, attempt } = underWay(['a'], 1);
      return played.answered(attempt, THROTTLED);
    },
    settled: {},
    next: 'read for the doubt',
  },
  {
    rule: '7',
    when: 'nothing of a commit has left',
    play: () => {
      const { played, attempt } = underWay();
      return played.answered(attempt, UNSENT);
    },
    settled: {},
    next: 'pause',
  },
  {
    rule: '7',
    when: 'nothing has left for too long',
    play: () => {
      const { played, attempt } = underWay();
      return played.after(6_000).answered(attempt, UNSENT);
    },
    settled: { a: 'unavailable' },
    next: 'idle',
  },
  {
    rule: '7',
    when: 'the provider denies access',
    play: () => {
      const { played, attempt } = underWay();
      const cause = new StoreError('unavailable', 'said', { retryable: false });
      return played.answered(attempt, { kind: 'refused', reason: 'denied', cause });
    },
    settled: { a: 'unavailable' },
    next: 'idle',
  },
  {
    rule: '15',
    when: 'a root is missing',
    play: () => new Played({ isRoot: true }).come(['a']).missing(),
    settled: {},
    next: 'send on: missing',
  },
  {
    rule: '28',
    when: 'a leaf is missing',
    play: () => new Played().come(['a']).missing(),
    settled: {},
    next: 'send on: left',
  },
];

function updateOf(name: string, more: object): Change {
  return change(name, () => ({ kind: 'none' }), more);
}

test.each(ROWS)('rule $rule: $when', ({ play, settled, next }) => {
  const played = play();
  const step = told(played.next());
  expect({ settled: played.settled, next: step }).toEqual({ settled, next });
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
