// Creates, drops and lists tables (rules 16 and 17). There is no catalogue, which could contradict
// the roots. To create a table is to insert an empty root; to drop it is to replace the root by a
// tombstone and then to remove the nodes. A root itself is never removed. It hands on which
// incarnations were dropped, so that vacuum knows which nodes are garbage.
import type { Driver, EntityId, EntityVersion, RemoveOutcome, Write, WriteOutcome } from '../contract/driver.ts';
import { refusedError, StoreError, tableNotFound } from '../contract/errors.ts';
import type { Order } from '../contract/options.ts';
import type { TableInfo } from '../contract/results.ts';
import { EMPTY_BYTES, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { incarnationPrefix, ROOT_PREFIX, rootId, tableOfRoot } from '../format/entity-ids.ts';
import { type Header, NO_PAGES, type NodeState, successor } from '../format/header.ts';
import { insertOf, replaceOf } from '../container/plan-commit.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { evenSplitPoints, planSplit } from '../container/split.ts';
import type { Engine } from '../engine/engine.ts';
import { insertNodes } from '../engine/leaf-steps.ts';
import { drawAttempt, drawId } from '../io/clock.ts';
import { listIds, sendRemoval, sendWrites } from '../io/send.ts';

/** Conflicts on a root before giving up. Throttled tries do not count; the deadline ends them. */
const TRIES_MAX = 20;
/** The pause after a throttled or unknown write, unless the provider asks for a longer one. */
const PAUSE_LEAST_MS = 100;

/** The outcome of a write of a root, or of the last step of several. */
type Sent = 'written' | 'turned away' | 'other';

/** A root without records, nodes below it or neighbours. */
const NO_CONTENT = { level: 0, high: undefined, right: undefined, ...NO_PAGES };

/** No request of an older incarnation can still be under way after so many drops. */
const DROPS_KEPT = 8;

export interface CreateOptions {
  readonly order: Order | undefined;
  readonly groupBy: string | undefined;
  readonly containers: number;
  readonly create: boolean;
}

export interface OpenedRoot {
  readonly root: Snapshot;
  /** Whether this call created it. */
  readonly isNew: boolean;
}

/** Opens or creates the root. Throws `not_found`, or `conflict` if order or groups differ. */
export async function openRoot(engine: Engine, options: CreateOptions): Promise<OpenedRoot> {
  const { table } = engine;
  const drawn = new Set<Id64>();
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const root = await engine.reader.readWhole(rootId(table));
    if (root?.header.state === 'live') {
      // An incarnation is drawn once, so it also settles an insert whose outcome was unknown.
      return { root: checkedOrder(root, options, table), isNew: drawn.has(root.header.incarnation) };
    }
    if (!options.create) throw tableNotFound(table);
    if (root?.header.state === 'removing') {
      if ((await removeNodes(engine, root)) === 'turned away') tries -= 1;
      continue;
    }
    const unwritten = freshRoot(engine, options, root?.header);
    drawn.add(unwritten.incarnation);
    const attempt = drawAttempt(engine);
    const header = successor(unwritten, attempt);
    const write = root === undefined ? insertOf(rootId(table), header, attempt) : replaceOf(root, header, attempt);
    const sent = await send(engine, write);
    if (sent === 'turned away') tries -= 1;
    if (sent === 'written' && options.containers > 1) await preSplit(engine, options.containers);
  }
  throw new StoreError('unavailable', 'the table could not be created: its root keeps changing', { table });
}

function checkedOrder(root: Snapshot, { order, groupBy }: CreateOptions, table: string): Snapshot {
  const { header } = root;
  if (order !== undefined && header.order !== order)
    throw new StoreError('conflict', `the table exists with order "${header.order}", not "${order}"`, { table });
  if (groupBy === undefined || header.groupBy === groupBy) return root;
  const found = header.groupBy === undefined ? 'without groupBy' : `with groupBy "${header.groupBy}"`;
  throw new StoreError('conflict', `the table exists ${found}, not with "${groupBy}"`, { table });
}

/** An empty root, not yet written. Its numbers go on from those of the tombstone `before`. */
function freshRoot(engine: Engine, { order = 'hash', groupBy }: CreateOptions, before: Header | undefined): Header {
  return {
    order,
    groupBy,
    state: 'live',
    incarnation: drawId(engine.runtime),
    container: ROOT_CONTAINER,
    low: EMPTY_BYTES,
    ...NO_CONTENT,
    nextNumber: before?.nextNumber ?? 1,
    commitCount: before?.commitCount ?? 0,
    commitIds: before?.commitIds ?? EMPTY_BYTES,
    createdAtMs: engine.runtime.wallMs(),
    origin: before && {
      id: rootId(engine.table),
      version: droppedOf(before).slice(0, DROPS_KEPT).join('!') as EntityVersion,
    },
  };
}

/** The dropped incarnations that a root or a tombstone names, the last one first. */
function droppedOf({ state, incarnation, origin }: Header): readonly string[] {
  const before = origin === undefined ? [] : origin.version.split('!');
  return state === 'removed' ? [incarnation, ...before] : before;
}

/** Whether a drop finished removing this incarnation. */
export function wasDropped(root: Header, incarnation: Id64): boolean {
  return droppedOf(root).includes(incarnation);
}

/** Sends one write of a root. Unless the result is `written`, the caller must read the root. */
async function send(engine: Engine, write: Write): Promise<Sent> {
  const [outcome] = await sendWrites(engine, [write]);
  if (await pauseIfTurnedAway(engine, outcome)) return 'turned away';
  if (outcome?.kind === 'refused' && outcome.reason !== 'condition')
    throw refusedError(outcome, engine.table, write.id);
  if (outcome?.kind === 'unknown') await engine.runtime.sleep(PAUSE_LEAST_MS);
  return outcome?.kind === 'written' ? 'written' : 'other';
}

/** After throttling, waits as long as the provider asks. The write may have been applied anyway. */
async function pauseIfTurnedAway(engine: Engine, outcome: WriteOutcome | RemoveOutcome | undefined): Promise<boolean> {
  if (outcome?.kind !== 'refused' || outcome.reason !== 'throttled') return false;
  const { cause } = outcome;
  const askedMs = cause instanceof StoreError ? cause.retryAfterMs : undefined;
  await engine.runtime.sleep(Math.max(PAUSE_LEAST_MS, askedMs ?? 0));
  return true;
}

/** Splits the empty root. A failure does no harm, since the table splits when it grows. */
async function preSplit(engine: Engine, containers: number): Promise<void> {
  const root = await engine.reader.readWhole(rootId(engine.table));
  if (root === undefined || root.header.level > 0 || root.header.pages.length > 0 || root.header.state !== 'live')
    return;
  const attempt = drawAttempt(engine);
  const input = { snapshot: root, attempt, nowMs: engine.runtime.wallMs(), drawId: () => drawId(engine.runtime) };
  const plan = planSplit(input, evenSplitPoints(containers), root.header.nextNumber, engine.rules);
  if ((await insertNodes(engine, plan.inserts, attempt)) === undefined) return;
  await send(engine, replaceOf(root, plan.left, attempt));
}

/** Drops the table's present incarnation. False if there is none. */
export async function dropTable(engine: Engine): Promise<boolean> {
  const { table } = engine;
  const first = await engine.reader.readPages(rootId(table), []);
  if (first === undefined || first.header.state === 'removed') return false;
  let root: Snapshot = first;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const isOurs = root.header.incarnation === first.header.incarnation;
    if (!isOurs || root.header.state === 'removed') return true;
    const isRemoving = root.header.state === 'removing';
    const sent = await (isRemoving ? removeNodes(engine, root) : setState(engine, root, 'removing'));
    if (sent === 'turned away') tries -= 1;
    const again = await engine.reader.readPages(rootId(table), []);
    if (again === undefined) throw new StoreError('corrupt', 'the root vanished during the drop', { table });
    root = again;
  }
  throw new StoreError('unavailable', 'the drop could not be finished: drop again to go on', { table });
}

function setState(engine: Engine, root: Snapshot, state: NodeState): Promise<Sent> {
  const attempt = drawAttempt(engine);
  return send(engine, replaceOf(root, { ...successor(root.header, attempt), state, ...NO_CONTENT }, attempt));
}

/** Removes a dropped incarnation's nodes. Once a listing is empty, the tombstone is `removed`. */
async function removeNodes(engine: Engine, tombstone: Snapshot): Promise<Sent> {
  const { table } = engine;
  const prefix = incarnationPrefix(table, tombstone.header.incarnation);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    let found = 0;
    for await (const id of listIds(engine.driver, prefix)) {
      found += 1;
      if (await pauseIfTurnedAway(engine, await removeEntity(engine, id))) return 'turned away';
    }
    if (found === 0) return setState(engine, tombstone, 'removed');
  }
  throw new StoreError('unavailable', 'containers of the dropped table keep appearing: drop again to go on', { table });
}

/** Removes an entity at its present version. If that fails, the next listing shows it again. */
export async function removeEntity(engine: Engine, id: EntityId): Promise<RemoveOutcome | undefined> {
  const version = await engine.reader.versionOf(id);
  return version === undefined ? undefined : sendRemoval(engine, { id, version });
}

/** The tables that are live or damaged, in order of their names. */
export async function listTables(driver: Driver, engineOf: (table: string) => Engine): Promise<TableInfo[]> {
  const names: string[] = [];
  for await (const id of listIds(driver, ROOT_PREFIX)) names.push(tableOfRoot(id));
  const tables: TableInfo[] = [];
  for (const name of names.toSorted()) {
    const info = await tableInfo(engineOf(name));
    if (info !== undefined) tables.push(info);
  }
  return tables;
}

/** Undefined for a dropped table. */
async function tableInfo({ table: name, reader }: Engine): Promise<TableInfo | undefined> {
  try {
    const root = await reader.readPages(rootId(name), []);
    if (root?.header.state !== 'live') return undefined;
    const { order, groupBy, createdAtMs } = root.header;
    return { name, order, ...(groupBy !== undefined && { groupBy }), createdAtMs };
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return { name, damage: error.message };
    throw error;
  }
}
