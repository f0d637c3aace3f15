// One life of a process that runs the machine: its leaves, its searches and its memory. Every step
// becomes a request or a time, every answer an event. Nothing here is awaited.
import { retiredHeader, strippedHeader, fitsTogether } from '../../../shared/store/container/join-leaves.ts';
import type { Change } from '../../../shared/store/container/change.ts';
import { type CommitRules, insertOf, patchOf, replaceOf } from '../../../shared/store/container/plan-commit.ts';
import { isWhole, type Snapshot, snapshotOf } from '../../../shared/store/container/snapshot.ts';
import type { Entity, EntityId, PartName, Write, WriteOutcome } from '../../../shared/store/contract/driver.ts';
import { refusedError, StoreError, tableNotFound } from '../../../shared/store/contract/errors.ts';
import type { Moment } from '../../../shared/store/contract/runtime.ts';
import { ParentRepair } from '../../../shared/store/engine/engine.ts';
import { id64, type Id64 } from '../../../shared/store/format/bytes.ts';
import { encodeHeader, type Header, TAG_DIGITS } from '../../../shared/store/format/header.ts';
import {
  COMMIT_PART,
  HEADER_PART,
  incarnationOf,
  incarnationPrefix,
  nodeId,
  pagePart,
  rootId,
} from '../../../shared/store/format/entity-ids.ts';
import { type Position, within } from '../../../shared/store/format/position.ts';
import { Clock, drawAttempt, drawId } from '../../../shared/store/io/clock.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { newCounters } from '../../../shared/store/system/tracing.ts';
import { isShownBy } from '../../../shared/store/io/reads.ts';
import type {
  EntryRepair,
  Event,
  InsertedNode,
  Leaf,
  Reading,
  Step,
  World,
} from '../../../shared/store/machine/leaf.ts';
import {
  afterAstray,
  afterMiss,
  type Memory,
  newSearchFromTheLeft,
  type Phase,
  Search,
  shown,
  type TreeStep,
} from '../../../shared/store/machine/search.ts';
import { nextTreeStep } from '../../../shared/store/machine/tree.ts';
import { newContention, note } from '../../../shared/store/machine/contention.ts';
import type { Scheduler } from '../../../shared/lab/kit/virtual-time.ts';
import type { Events } from '../events.ts';
import type { Network } from '../network.ts';
import type { Life } from '../process.ts';
import { TABLE } from '../scenario.ts';
import type { MachineScenario } from './machine-scenario.ts';

/** A request without an answer is given up after so long. */
const REQUEST_MS = 10_000;
/** A change that is sent on more often meets a damaged table. */
const REROUTES_MAX = 50;
/** A merger looks after so long whether the leaf that it retired was absorbed. */
const STRIP_AFTER_MS = 5_000;

type Reply = { readonly snapshot: Snapshot | undefined } | { readonly error: unknown };

/** A leaf at work. */
interface AtWork {
  readonly leaf: Leaf;
  add(changes: readonly Change[], retired?: Snapshot): void;
}

/** One reading of a container, as its reply is judged. */
interface Asked {
  readonly id: EntityId;
  readonly parts: 'all' | readonly PartName[];
  readonly seen: Moment;
  readonly latest: Snapshot | undefined;
}

/** What all processes of a run share. */
export interface Surroundings {
  readonly scenario: MachineScenario;
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly events: Events;
  readonly rules: CommitRules;
  readonly complain: (what: string) => void;
  readonly begin: (store: EventStore, id: EntityId) => AtWork;
}

export class EventStore {
  readonly world: World;
  readonly clock: Clock;
  readonly complain: Surroundings['complain'];
  readonly #parents = new ParentRepair();
  readonly #memory: Memory;
  readonly #life: Life<EventStore>;
  readonly #around: Surroundings;
  readonly #leaves = new Map<EntityId, AtWork>();

  constructor(life: Life<EventStore>, around: Surroundings) {
    const { rules, scenario } = around;
    this.#life = life;
    this.#around = around;
    this.complain = around.complain;
    this.clock = new Clock(life);
    const cache = new ContainerCache(scenario.cacheBytesMax);
    const tag = drawId(life).slice(0, TAG_DIGITS);
    const roundTrip = { roundTripMs: 10, meanRoundTripMs: 10 };
    const way = { reads: roundTrip, commits: roundTrip, commitsWait: scenario.commitsWait };
    const counted = { table: TABLE, counters: newCounters() };
    this.#memory = { ...counted, get: (id) => cache.get(id), ageMs: (seen) => this.clock.ageMs(seen) };
    this.world = {
      ...counted,
      rules,
      cache,
      contention: newContention(tag, way),
      runtime: life,
      tag,
    };
  }

  get counters(): World['counters'] {
    return this.world.counters;
  }

  /** Ids of leaves that have work, or await an answer. */
  get atWork(): EntityId[] {
    return [...this.#leaves.keys()];
  }

  after(ms: number, fire: () => void): () => void {
    const { scheduler } = this.#around;
    return scheduler.at(scheduler.nowMs + ms, fire, this.#life);
  }

  /** Hands on the first event alone: what comes, or `late` after `ms`. */
  within(ms: number | undefined, late: Event, done: (event: Event) => void): (event: Event) => void {
    let isOver = false;
    const end = (event: Event): void => {
      if (isOver) return;
      isOver = true;
      done(event);
    };
    if (ms !== undefined) this.after(ms, () => end(late));
    return end;
  }

  /** Writes wait for others before they depart, now and then for long. */
  drawRoomMs(): number {
    return this.#around.scenario.roomMs * (this.#life.random(1)[0]! / 255) ** 4;
  }

  trace({ id }: Leaf, event: Event): void {
    const { events } = this.#around;
    events.count(`event ${event.kind}`);
    if (events.lines !== undefined) this.#note(`${id} ${told(event)}`);
  }

  #note(what: string): void {
    this.#around.events.tell(`p${this.#life.process.index}.${this.#life.number}`, what);
  }

  /** Takes the hints, and sends each to its branch. */
  tellParents(hints: EntryRepair[]): void {
    for (const hint of hints.splice(0)) {
      const change = this.#parents.begin(hint, this.clock.now().tick);
      if (change !== undefined) this.submit([change]);
    }
  }

  forgetIdle(id: EntityId): void {
    this.#leaves.delete(id);
  }

  /** Brings each change to the leaf that owns it, as its search finds that. */
  submit(changes: readonly Change[], phaseOf: (change: Change) => Phase | undefined = () => undefined): void {
    for (const change of changes) {
      if (change.isSettled) continue;
      const { position, level } = change;
      const search = new Search({ position, level, until: 'named' }, phaseOf(change));
      search.passedLows[level] = change.passedLow;
      this.#search(search, (end) => {
        change.passedLow = search.passedLows[level];
        if (end.kind === 'named') this.#enqueue(end.id, [change]);
        else change.settle({ kind: 'failed', error: errorOf(end) });
      });
    }
  }

  #enqueue(id: EntityId, changes: readonly Change[], retired?: Snapshot): void {
    let leaf = this.#leaves.get(id);
    if (leaf === undefined) this.#leaves.set(id, (leaf = this.#around.begin(this, id)));
    leaf.add(changes, retired);
  }

  sendOn(id: EntityId, { way, node, changes }: Extract<Step, { kind: 'send on' }>): void {
    const { table } = this.world;
    this.#around.events.count(`changes sent on: ${way}`);
    if (way === 'right') return this.submit(changes, () => ({ kind: 'right', overtaken: node! }));
    if (way === 'left') return this.#sendLeft(id, node, changes);
    for (const change of changes) {
      change.reroutes += 1;
      if (id === rootId(table) && way === 'missing') change.settle({ kind: 'failed', error: tableNotFound(table) });
      if (change.reroutes <= REROUTES_MAX) continue;
      this.complain(`a change of ${id} was sent on ${change.reroutes} times`);
      change.settle({ kind: 'failed', error: new StoreError('corrupt', 'sent on too often') });
    }
    if (way === 'again') return this.submit(changes, ({ level }) => afterAstray(node!, level, table));
    this.submit(changes, (change) => {
      change.misses += 1;
      return afterMiss(id, incarnationOf(id), change.misses > 1);
    });
  }

  /** Rule 28 (d): the changes go on at the leaf where the search ends, not by another route. */
  #sendLeft(id: EntityId, gone: Snapshot | undefined, changes: readonly Change[]): void {
    const [first] = changes.toSorted((a, b) => Buffer.compare(a.position, b.position));
    if (first === undefined) return;
    const phase: Phase = { kind: 'left', id, incarnation: incarnationOf(id), gone };
    this.#search(new Search({ position: first.position, level: 0, until: 'left' }, phase), (end) => {
      if (end.kind !== 'left') for (const change of changes) change.settle({ kind: 'failed', error: errorOf(end) });
      else if (end.found === undefined) this.submit(changes);
      else this.#enqueue(end.found.live.id, changes, end.found.retired);
    });
  }

  /** The leaf that owns the position, read from now on. */
  find(position: Position, done: (reply: Reply) => void): void {
    this.#search(new Search({ position, level: 0, until: 'seen' }), (end) =>
      done(end.kind === 'found' ? { snapshot: end.node } : { error: errorOf(end) }),
    );
  }

  #search(search: Search, done: (end: TreeStep) => void): void {
    const step = nextTreeStep(search, this.#memory);
    this.tellParents(search.entryRepairs);
    if (step.kind !== 'look') return done(step);
    const { cache, table } = this.world;
    if (step.forgets !== undefined) cache.forgetBranches(incarnationPrefix(table, step.forgets), rootId(table));
    const what = step.what === 'sought' ? 'whole' : step.what;
    this.read(step.id, what, undefined, (reply) => {
      if ('error' in reply && step.mayFail !== true) return done({ kind: 'failed', ...reply });
      shown(search, 'error' in reply ? undefined : reply.snapshot);
      this.#search(search, done);
    });
  }

  /** A process does not know whether an unknown container is small. */
  read(id: EntityId, what: Reading | 'whole', latest: Snapshot | undefined, done: (reply: Reply) => void): void {
    const slots = typeof what === 'string' ? [] : what;
    const isAll = what === 'whole' || what === 'intact' || (what === 'unknown' && this.#life.random(1)[0]! < 128);
    const parts = isAll ? 'all' : [COMMIT_PART, HEADER_PART, ...slots.map(pagePart)];
    const seen = this.clock.now();
    this.#around.network.read(this.#life, [{ id, parts }], REQUEST_MS, (answer) => {
      try {
        if (answer instanceof StoreError) throw answer;
        const snapshot = this.#seen({ id, parts, seen, latest }, answer[0]);
        const damage = snapshot?.header.pages.find(({ content }) => !content.isKnown)?.content.damage;
        if (what === 'intact' && damage !== undefined) throw damage;
        done({ snapshot });
      } catch (error) {
        done({ error });
      }
    });
  }

  /** As a purpose of the store has it. */
  #seen({ id, parts, seen, latest }: Asked, entity: Entity | undefined): Snapshot | undefined {
    const { cache, contention, table } = this.world;
    if (entity === undefined) {
      cache.forget(id);
      return undefined;
    }
    const cached = cache.get(id);
    const read = snapshotOf(entity, table, seen, cached ?? latest);
    if (cached?.header.incarnation === read.header.incarnation) {
      const own = this.#leaves.get(id)?.leaf.open.ownCommitsBetween(cached.header, read.header) ?? 0;
      const foreignCommits = Math.max(0, read.header.commitCount - cached.header.commitCount - own);
      const ms = seen.monotonicMs - cached.seen.monotonicMs;
      note(contention, id, { kind: 'look', foreignCommits, ms, wasSplit: false }, this.#life.monotonicMs());
    }
    for (const { slot, content } of read.header.pages)
      if (!content.isKnown && (parts === 'all' || parts.includes(pagePart(slot))))
        content.forget(new StoreError('corrupt', `page ${slot} is missing`, { table, container: id }));
    const offered = cache.offer(read);
    return parts === 'all' && !isWhole(offered.header) ? read : offered;
  }

  #readCommit(id: EntityId, done: (reply: Parameters<typeof isShownBy>[0] | StoreError) => void): void {
    const seen = this.clock.now();
    this.#around.network.read(this.#life, [{ id, parts: [COMMIT_PART] }], REQUEST_MS, (answer) => {
      if (answer instanceof StoreError) return done(answer);
      const [entity] = answer;
      const stored = entity?.parts.get(COMMIT_PART);
      done(entity && { version: entity.version, lastCommit: stored && id64(stored), seen, snapshot: undefined });
    });
  }

  check(snapshot: Snapshot, done: (event: Event) => void): void {
    this.#readCommit(snapshot.id, (reply) => {
      if (reply instanceof StoreError) done({ kind: 'failed', purpose: undefined, error: reply });
      else done({ kind: 'checked', isCurrent: isShownBy(reply, snapshot) });
    });
  }

  write(write: Write, done: (outcome: WriteOutcome) => void): void {
    this.#around.network.write(this.#life, [write], REQUEST_MS, (answer) => {
      if (!(answer instanceof StoreError)) done(answer[0]!);
    });
  }

  /** Rule 9: a write for each; one whose outcome is unknown is looked for. */
  insert({ headers, attempt, withinMs }: Extract<Step, { kind: 'insert' }>, done: (event: Event) => void): void {
    const nodes: (InsertedNode | undefined)[] = [];
    let refusal: StoreError | undefined;
    let left = headers.length;
    const end = this.within(withinMs, { kind: 'inserted', nodes: undefined, refusal: undefined }, done);
    for (const [at, header] of headers.entries())
      this.#insertNode(header, attempt, (node) => {
        const isFinal = node instanceof StoreError && !node.retryable;
        if (isFinal) return end({ kind: 'failed', purpose: undefined, error: node });
        if (node instanceof StoreError) refusal = node;
        else nodes[at] = node;
        left -= 1;
        const areThere = nodes.filter((each) => each !== undefined);
        if (left === 0)
          end({ kind: 'inserted', nodes: areThere.length < headers.length ? undefined : areThere, refusal });
      });
  }

  #insertNode(header: Header, attempt: Id64, done: (node: InsertedNode | StoreError | undefined) => void): void {
    const { table } = this.world;
    const id = nodeId(table, header.incarnation, header.container);
    const seen = this.clock.now();
    this.write(insertOf(id, header, attempt), (outcome) => {
      const there = { header, snapshot: undefined };
      if (outcome.kind === 'written')
        return done({ header, snapshot: { id, version: outcome.version, header, lastCommit: attempt, seen } });
      if (outcome.kind === 'refused')
        return done(outcome.reason === 'condition' ? there : refusedError(outcome, table, id));
      this.#readCommit(id, (reply) => {
        if (reply instanceof StoreError) return done(reply);
        done(reply?.lastCommit === attempt ? there : undefined);
      });
    });
  }

  /** Has the position's leaf take its right neighbour in, as a vacuum does (rules 26 to 30). */
  merge(position: Position): void {
    const { rules, table } = this.world;
    this.find(position, (found) => {
      const left = 'error' in found ? undefined : found.snapshot;
      if (left?.header.state !== 'live' || left.header.right === undefined) return;
      const id = nodeId(table, left.header.incarnation, left.header.right);
      this.read(id, 'intact', undefined, (next) => {
        const right = 'error' in next ? undefined : next.snapshot;
        if (right?.header.state !== 'live' || !fitsTogether(left.header, right.header, rules)) return;
        this.#retire(right, (retired) => {
          this.#enqueue(left.id, [], retired);
          this.after(STRIP_AFTER_MS, () => this.#strip(retired));
        });
      });
    });
  }

  #retire(right: Snapshot, done: (retired: Snapshot) => void): void {
    const attempt = drawAttempt(this.world);
    const header = retiredHeader(right.header, attempt);
    const seen = this.clock.now();
    const { id } = right;
    this.write(patchOf(right, encodeHeader(header, right.header), { written: [], dropped: [] }, attempt), (outcome) => {
      if (outcome.kind === 'written')
        return done(this.world.cache.offer({ id, version: outcome.version, header, lastCommit: attempt, seen }));
      this.read(id, 'intact', undefined, (reply) => {
        if ('snapshot' in reply && reply.snapshot?.header.state === 'retired') done(reply.snapshot);
      });
    });
  }

  /** Empties it, once another live leaf owns what it did. */
  #strip(retired: Snapshot): void {
    const { incarnation, low } = retired.header;
    this.#search(newSearchFromTheLeft(incarnation, low), (end) => {
      if (end.kind !== 'left' || end.found === undefined || end.found.retired !== undefined) return;
      const { id, header } = end.found.live;
      if (id === retired.id || header.state !== 'live' || !within(low, header.low, header.high)) return;
      const attempt = drawAttempt(this.world);
      const stripped = strippedHeader(retired.header, attempt, this.#life.wallMs());
      this.write(replaceOf(retired, stripped, attempt), () => undefined);
    });
  }
}

function errorOf(end: TreeStep): unknown {
  return end.kind === 'failed' ? end.error : new Error(`a search ended with ${end.kind}`);
}

/** As a row of tests/store/machine has it. */
function told(event: Event): string {
  switch (event.kind) {
    case 'came':
      return `came ${event.changes.map(({ key }) => Buffer.from(key).toString()).join()}${event.retired === undefined ? '' : ` with the retired ${event.retired.id}`}`;
    case 'shown': {
      const { purpose, snapshot } = event;
      return `shown for the ${purpose}: ${snapshot === undefined ? 'missing' : `#${snapshot.header.commitCount} is ${snapshot.lastCommit}, ${snapshot.header.state}`}`;
    }
    case 'answered':
      return `answered ${event.attempt.id}, #${event.attempt.header.commitCount}: ${event.outcome.kind}${'reason' in event.outcome ? ` (${event.outcome.reason})` : ''}`;
    case 'failed':
      return `failed for the ${event.purpose}: ${String(event.error)}`;
    case 'inserted':
      return `inserted: ${event.nodes?.length ?? 'not certain'}`;
    case 'checked':
      return `checked: ${event.isCurrent}`;
    case 'late':
    case 'pause over':
      return event.kind;
    default:
      return event satisfies never;
  }
}
