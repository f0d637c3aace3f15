// The engine of one table. Brings each change to the container that owns its position, and carries
// out the steps of all containers that have work. While a container's commit is under way, further
// changes gather and go together in its next one. Repairs of parents' entries are such changes, on
// which no call depends (rules 11 and 29).
import { byPosition, type Change, entryChange } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import { incarnationOf, rootId } from '../format/entity-ids.ts';
import type { Observation } from '../io/reads.ts';
import { type EntryRepair, isAwaited, isIdle, Leaf, type Step } from '../machine/leaf.ts';
import { afterAstray, afterMiss, Search, type TreeStep } from '../machine/search.ts';
import { inOperation, noteEvent } from '../system/tracing.ts';
import { type EngineCore, type EngineSubject, newCore, type StoreShared } from './core.ts';
import { ask, next, type StepOf, told, write } from './leaf-steps.ts';
import { Tree } from './tree-runner.ts';
import { asBuffer, id64 } from '../format/bytes.ts';

/** A change that was routed anew more often than this has met a damaged table. */
const REROUTES_MAX = 50;

export class Router {
  readonly #core: EngineCore;
  readonly tree: Tree;
  readonly #parents = new ParentRepair();
  /** Wake containers that pause with entry repairs alone, when a caller's change arrives. */
  readonly #wakes = new Map<Leaf, () => void>();

  constructor(core: EngineCore) {
    this.#core = core;
    this.tree = new Tree(core, (entryRepairs) => this.#tellParents(entryRepairs));
  }

  /** Whether a caller's change waits anywhere. */
  get isAwaited(): boolean {
    return [...this.#core.leaves.values()].some(isAwaited);
  }

  /** Sends each change to its container. An error of the search settles the change. */
  route(changes: readonly Change[]): void {
    const [change] = changes;
    if (changes.length !== 1 || change === undefined) return void this.#routeMany(changes);
    const search = new Search({ position: change.position, level: change.level, until: 'named' });
    const step = this.tree.next(search);
    if (step.kind === 'named') this.enqueue(step.id, changes);
    else inBackground(changes, this.#enqueueAtEnd(search, step, changes));
  }

  async #routeMany(changes: readonly Change[]): Promise<void> {
    for (const [id, group] of await this.tree.group(changes, failChange)) this.enqueue(id, group);
  }

  async #enqueueAtEnd(search: Search, step: TreeStep, changes: readonly Change[]): Promise<void> {
    this.enqueue((await this.tree.end(search, 'named', undefined, step)).id, changes);
  }

  /** `retired`: the container's right neighbour, which is to be absorbed first (rule 27). */
  enqueue(id: EntityId, changes: readonly Change[], retired?: Snapshot): void {
    const { leaves, table } = this.#core;
    const running = leaves.get(id);
    const leaf = running ?? new Leaf(id, table);
    told(this.#core, leaf, { kind: 'came', changes, retired });
    if (changes.some(({ isEntryRepair }) => !isEntryRepair)) this.#wakes.get(leaf)?.();
    if (running !== undefined) return;
    leaves.set(id, leaf);
    void this.#run(leaf);
  }

  /** Works on a container for a vacuum, until nothing is left to do. Throws if a read fails. */
  async maintain(id: EntityId, prepare: (leaf: Leaf) => void): Promise<Leaf> {
    const leaf = new Leaf(id, this.#core.table, true);
    prepare(leaf);
    await this.#run(leaf);
    if (leaf.failure !== undefined) throw leaf.failure.error;
    return leaf;
  }

  /** If a read showed this process's own commit before its answer came, caches that commit. */
  recognise(id: EntityId, observed: Observation | undefined): void {
    const { cache, leaves } = this.#core;
    const attempt = leaves.get(id)?.underWay;
    if (attempt === undefined || observed?.lastCommit !== attempt.id) return;
    const { version, seen } = observed;
    cache.offer({ id, version, header: attempt.header, lastCommit: attempt.id, seen });
  }

  /** Resolves when the container has no work left. */
  async #run(leaf: Leaf): Promise<void> {
    const { commitsAtATime, leaves, runtime } = this.#core;
    while (!isIdle(leaf)) {
      // `acquire` waits a moment even where there is room, so that changes of that moment gather.
      await commitsAtATime.acquire();
      let pause: StepOf<'pause'> | undefined;
      try {
        pause = await inOperation(leaf.changes[0]?.operation, () => this.#round(leaf));
      } finally {
        commitsAtATime.release();
      }
      this.#tellParents(leaf.entryRepairs.splice(0));
      if (pause === undefined) continue;
      if (pause.canBeWoken) await this.#pauseUnlessWoken(leaf, pause.ms);
      else await runtime.sleep(pause.ms);
      told(this.#core, leaf, { kind: 'pause over' });
    }
    if (leaves.get(leaf.id) === leaf) leaves.delete(leaf.id);
  }

  async #pauseUnlessWoken(leaf: Leaf, ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wakes.set(leaf, () => woken.abort());
    await this.#core.runtime.watch(ms, woken.signal);
    this.#wakes.delete(leaf);
  }

  /** Carries out steps until an attempt is over or a pause is due. */
  async #round(leaf: Leaf): Promise<StepOf<'pause'> | undefined> {
    const core = this.#core;
    const { turns } = core;
    if (leaf.changes.length > 1 && turns.isLong) await turns.pause();
    for (let step = next(core, leaf); ;) {
      let follows: Step | undefined;
      switch (step.kind) {
        case 'idle':
          return undefined;
        case 'answer':
          throw new Error('a round begins while a write is under way');
        case 'pause':
          return step;
        case 'write':
          follows = await write(core, leaf, step);
          if (follows === undefined) return undefined;
          break;
        case 'turn':
          if (turns.isLong) await turns.pause();
          break;
        case 'send on':
          this.#sendOn(leaf, step);
          break;
        case 'read':
        case 'check':
        case 'insert':
          follows = await ask(core, leaf, step);
          break;
        default:
          step satisfies never;
      }
      this.#tellParents(leaf.entryRepairs.splice(0));
      step = follows ?? next(core, leaf);
    }
  }

  #sendOn({ id }: Leaf, { way, node, changes }: StepOf<'send on'>): void {
    const [first] = changes;
    if (first === undefined) return;
    const { table } = this.#core;
    if (way === 'right') inBackground(changes, this.#sendBeyond(node!, changes));
    else if (way === 'left') inBackground(changes, this.#sendLeft(id, node, changes));
    else {
      const { position, level } = first;
      const isDamage = changes.some(({ misses }) => misses > 0);
      const from = node === undefined ? afterMiss(id, incarnationOf(id), isDamage) : afterAstray(node, level, table);
      if (node === undefined) for (const change of changes) change.misses += 1;
      if (node === undefined && id === rootId(table)) fail(changes, tableNotFound(table));
      else inBackground(changes, this.#routeAnew(new Search({ position, level, until: 'root' }, from), changes));
    }
  }

  /** Sends each change to the node that owns it beyond the high of `overtaken`. */
  async #sendBeyond(overtaken: Snapshot, changes: readonly Change[]): Promise<void> {
    const { turns } = this.#core;
    const groups = new Map<EntityId, Change[]>();
    for (const change of changes) {
      if (turns.isLong) await turns.pause();
      if (change.isSettled) continue;
      const { position, level } = change;
      const search = new Search({ position, level, until: 'named' }, { kind: 'right', overtaken });
      search.passedLows[level] = change.passedLow;
      const step = this.tree.next(search);
      const { id } = step.kind === 'named' ? step : await this.tree.end(search, 'named', undefined, step);
      change.passedLow = search.passedLows[level];
      const group = groups.get(id);
      if (group === undefined) groups.set(id, [change]);
      else group.push(change);
    }
    for (const [id, group] of groups) this.enqueue(id, group);
  }

  /** Rule 28 (d): the changes go to the leaf where the search to the left ends. */
  async #sendLeft(id: EntityId, gone: Snapshot | undefined, changes: readonly Change[]): Promise<void> {
    const { position } = changes.toSorted(byPosition)[0]!;
    // Changes that lie to the right of that leaf follow the links from there.
    const lost = { kind: 'left', id, incarnation: incarnationOf(id), gone } as const;
    const { found } = await this.tree.end(new Search({ position, level: 0, until: 'left' }, lost), 'left');
    const waiting = changes.filter((change) => !change.isSettled);
    if (found === undefined) this.route(waiting);
    else this.enqueue(found.live.id, waiting, found.retired);
  }

  /** Reads the root anew, then routes the changes again. */
  async #routeAnew(search: Search, changes: readonly Change[]): Promise<void> {
    await this.tree.end(search, 'found');
    const { table } = this.#core;
    for (const change of changes) {
      change.reroutes += 1;
      if (change.reroutes > REROUTES_MAX)
        failChange(change, new StoreError('corrupt', 'no container owns the position of the key', { table }));
    }
    this.route(changes.filter((change) => !change.isSettled));
  }

  #tellParents(entryRepairs: readonly EntryRepair[]): void {
    for (const repair of entryRepairs) {
      const change = this.#parents.begin(repair, this.#core.clock.now().tick);
      if (change !== undefined) this.route([change]);
    }
  }
}

/** An error settles the changes. */
function inBackground(changes: readonly Change[], work: Promise<void>): void {
  work.catch((error: unknown) => fail(changes, error));
}

function fail(changes: readonly Change[], error: unknown): void {
  for (const change of changes) failChange(change, error);
}

function failChange(change: Change, error: unknown): void {
  change.settle({ kind: 'failed', error });
}

export interface Engine extends EngineCore {
  readonly router: Router;
  readonly tree: Tree;
}

/** No I/O. Throws `invalid` for a container size that is out of range. */
export function createEngine(shared: StoreShared, subject: EngineSubject): Engine {
  const core = newCore(shared, subject);
  const router = new Router(core);
  return { ...core, router, tree: router.tree };
}

/** The most repairs under way. Further ones are dropped, as the next search finds them again. */
const REPAIRS_MAX = 256;

export class ParentRepair {
  readonly #underWay = new Set<string>();

  /** The change that corrects an entry; undefined if it is under way already, or too many are. */
  begin({ level, incarnation, separator, child, instead }: EntryRepair, begunTick: number): Change | undefined {
    const name = `${incarnation}/${level}/${Buffer.from(separator).toString('base64')}/${instead ?? ''}`;
    if (this.#underWay.has(name) || this.#underWay.size >= REPAIRS_MAX) return undefined;
    this.#underWay.add(name);
    noteEvent('repairs', undefined);
    const value = Buffer.from(child, 'hex');
    return entryChange({
      separator,
      level,
      begunTick,
      action: (current, found) => {
        const named = current && id64(asBuffer(current.value));
        if (named !== instead || found !== incarnation) return { kind: 'none' };
        return { kind: 'write', codec: 0, value, expiresAtMs: undefined };
      },
      sink: { settled: () => this.#underWay.delete(name) },
      index: 0,
    });
  }
}
