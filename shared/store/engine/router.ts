// Brings changes to the queue of the container that owns them, again when turned away.
import { byPosition, type Change } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { Header } from '../format/header.ts';
import { incarnationOf, rootId } from '../format/ids.ts';
import type { Observation } from '../io/reads.ts';
import { isAwaited, newLeaf } from '../machine/leaf.ts';
import type { EngineCore } from './core.ts';
import { LeafRunner } from './leaf-runner.ts';
import type { Routes } from './route.ts';

/** A change that is sent on more often meets a damaged table. */
const REROUTES_MAX = 50;

export class Router implements Routes {
  readonly #core: EngineCore;
  readonly #queues = new Map<EntityId, LeafRunner>();

  constructor(core: EngineCore) {
    this.#core = core;
  }

  /** Whether a change waits that is no hint. */
  get isAwaited(): boolean {
    return [...this.#queues.values()].some(({ leaf }) => isAwaited(leaf));
  }

  /** Sends each change to its container. An error settles its changes. */
  route(changes: readonly Change[]): void {
    const [first] = changes;
    const known = changes.length === 1 ? this.#core.tree.branches.route(first!.position, first!.level) : undefined;
    if (known === undefined) void this.#routeByTree(changes);
    else this.enqueue(known.id, changes);
  }

  async #routeByTree(changes: readonly Change[]): Promise<void> {
    const routed = await this.#core.tree.group(changes, failChange);
    for (const [id, queued] of routed) this.enqueue(id, queued);
  }

  /** `retired`: the container's right neighbour, which is to be absorbed first. */
  enqueue(id: EntityId, changes: readonly Change[], retired?: Snapshot): void {
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      queue = new LeafRunner(newLeaf(id, this.#core.table), this.#core, this);
      this.#queues.set(id, queue);
    }
    queue.add(changes, retired);
  }

  queueIsIdle(id: EntityId): void {
    this.#queues.delete(id);
  }

  /** Open attempts among the commits that `now` counts beyond `before`. */
  landedBetween({ id, header }: Snapshot, now: Header): number {
    return this.#queues.get(id)?.leaf.open.landedBetween(header, now) ?? 0;
  }

  /** Caches a commit of this process that is not answered yet, if a read showed it. */
  recognise(id: EntityId, observed: Observation | undefined): void {
    const attempt = this.#queues.get(id)?.leaf.underWay;
    if (attempt === undefined || observed?.lastCommit !== attempt.id) return;
    const { version, seen } = observed;
    this.#core.cache.offer({ id, version, header: attempt.header, lastCommit: attempt.id, seen });
  }

  routeBeyond(overtaken: Snapshot, changes: readonly Change[]): void {
    inBackground(changes, this.#sendBeyond(overtaken, changes));
  }

  async #sendBeyond(overtaken: Snapshot, changes: readonly Change[]): Promise<void> {
    const { tree, turns } = this.#core;
    const groups = new Map<EntityId, Change[]>();
    for (const change of changes) {
      if (turns.isLong) await turns.pause();
      if (change.isSettled) continue;
      const { id } = await tree.beyond(overtaken, change);
      const group = groups.get(id);
      if (group === undefined) groups.set(id, [change]);
      else group.push(change);
    }
    for (const [id, group] of groups) this.enqueue(id, group);
  }

  routeAstray(astray: Snapshot, changes: readonly Change[]): void {
    inBackground(changes, this.#reroute(changes, this.#core.tree.root.restart(astray, changes[0]?.level ?? 0)));
  }

  routeLeft(id: EntityId, gone: Snapshot | undefined, changes: readonly Change[]): void {
    inBackground(changes, this.#sendLeft(id, gone, changes));
  }

  /** Rule 28 (d): the changes go on at the leaf where the search ends, not by another route. */
  async #sendLeft(id: EntityId, gone: Snapshot | undefined, changes: readonly Change[]): Promise<void> {
    const [first] = changes.toSorted(byPosition);
    if (first === undefined) return;
    const lost = { id, incarnation: incarnationOf(id), gone };
    // Whatever lies to the right of that leaf finds its way along the links.
    const found = await this.#core.tree.searchLeft(lost, first.position, true);
    const waiting = changes.filter((change) => !change.isSettled);
    if (found === undefined) this.route(waiting);
    else this.enqueue(found.live.id, waiting, found.retired);
  }

  routeAfterMiss(id: EntityId, changes: readonly Change[]): void {
    inBackground(changes, this.#reroute(changes, this.#lookAfterMiss(id, changes)));
  }

  async #lookAfterMiss(id: EntityId, changes: readonly Change[]): Promise<void> {
    const { table, tree } = this.#core;
    if (id === rootId(table)) throw tableNotFound(table);
    const missedBefore = changes.some((change) => change.misses > 0);
    for (const change of changes) change.misses += 1;
    await tree.root.afterMiss({ id, incarnation: incarnationOf(id) }, missedBefore);
  }

  /** Routes changes anew once the tree is prepared for it. */
  async #reroute(changes: readonly Change[], preparing: Promise<void>): Promise<void> {
    await preparing;
    const { table } = this.#core;
    for (const change of changes) {
      change.reroutes += 1;
      if (change.reroutes > REROUTES_MAX)
        failChange(change, new StoreError('corrupt', 'no container owns the position of the key', { table }));
    }
    this.route(changes.filter((change) => !change.isSettled));
  }
}

/** An error settles the changes. */
function inBackground(changes: readonly Change[], work: Promise<void>): void {
  work.catch((error: unknown) => {
    for (const change of changes) failChange(change, error);
  });
}

function failChange(change: Change, error: unknown): void {
  change.settle({ kind: 'failed', error });
}
