// Repairs a table: verifies it, mends each faulty container, and verifies again. Each container is
// mended in its place, by one write on condition of what was read. Links stay as they are, so a
// repair may end anywhere and another one can go on.
import { entryRecord } from '../container/branch.ts';
import type { CheckValue } from '../container/check.ts';
import { namesAny, nodesOf, orderOf, pagesFound, type Remains, type Salvage, salvage } from '../container/salvage.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { type Header, NO_PAGES, successor } from '../format/header.ts';
import { insertOf, replaceOf } from '../container/plan-commit.ts';
import type { Finding, RepairOptions, RepairReport } from '../contract/admin.ts';
import type { Entity, EntityId } from '../contract/driver.ts';
import { refusedError, StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { insertNodes } from '../engine/leaf-steps.ts';
import { EMPTY_BYTES, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { incarnationOf, nodeId, rootId } from '../format/entity-ids.ts';
import { groupOf } from '../format/position.ts';
import { drawAttempt, drawId } from '../io/clock.ts';
import { sendRemoval, sendWrites } from '../io/send.ts';
import { fence, judge } from './orphans.ts';
import { incarnationsNamed, isNewer, ownHeader, positionsIn, readStored, remainsOf } from './remains.ts';
import { type Met, Sketch, type Start } from './sketch.ts';
import { verifyTable } from './verify.ts';
import { shown } from './verify-tally.ts';

/** The most rounds. Two are usual; writers beside the repair, and throttling, cause more. */
const ROUNDS_MAX = 20;
/** The pause before another round after a refused write. */
const PAUSE_MS = 200;

/**
 * How far above all known numbers those of a lost header go on. At a thousand changes per second
 * that many are used in 30 years, so no number returns (invariant 3).
 */
const NUMBERS_SKIPPED = 2 ** 40;

interface RepairContext extends Pick<RepairOptions, 'save'> {
  readonly engine: Engine;
  readonly checkValue: CheckValue;
  readonly isDryRun: boolean;
}

/** `done`: written. `again`: another round must decide. `left`: no way to mend it is known. */
type Mended = 'done' | 'again' | 'left';

/** The content of a container that is made anew, and the nodes that must be inserted before it. */
interface Content extends Salvage {
  readonly inserts: readonly Header[];
}

const NOTHING: Content = { records: [], nextNumber: 0, lost: [], lostKeys: [], olderKeys: [], inserts: [] };

/** Throws `not_found`; or `corrupt` for what it cannot judge, and then has changed nothing. */
export async function repairTable(context: RepairContext): Promise<RepairReport> {
  return new Repair(context).run();
}

class Repair {
  readonly #context: RepairContext;
  readonly #engine: Engine;
  readonly #table: string;
  /** What `save` has kept, by container and version. */
  readonly #saved = new Set<string>();
  /** Unlinked containers that the previous round could not read. */
  #unreadable: ReadonlySet<EntityId> = new Set();

  constructor(context: RepairContext) {
    this.#context = context;
    this.#engine = context.engine;
    this.#table = context.engine.table;
  }

  async run(): Promise<RepairReport> {
    const { isDryRun } = this.#context;
    let mended = 0;
    for (let round = 1; ; round += 1) {
      const watch = new Sketch();
      const onFinding = (finding: Finding): void => this.#refuseForeign(finding);
      const verified = await verifyTable({ ...this.#context, onFinding, watch });
      await this.#refuseNewer(watch);
      const results = verified.findingCount === 0 ? [] : await this.#mendAll(watch);
      mended += results.filter((result) => result === 'done').length;
      const isOver = isDryRun || round === ROUNDS_MAX || results.every((result) => result === 'left');
      if (isOver) return { mended, verified };
      if (results.includes('again')) await this.#engine.runtime.sleep(PAUSE_MS);
    }
  }

  /** A root was created where one was lost: mending either table would cost the other's records. */
  #refuseForeign({ kind, message, container }: Finding): void {
    if (kind === 'foreign') throw this.#refusal(`${message}: restore the root from a backup`, container);
  }

  /** Before anything is written, since a newer release's bytes are no damage. */
  async #refuseNewer(sketch: Sketch): Promise<void> {
    const faulty = sketch.met.filter(({ faults }) => faults > 0);
    const root = sketch.isRootLost ? [rootId(this.#table)] : [];
    for (const id of [...root, ...faulty.map((met) => met.id), ...sketch.unreadable]) {
      const entity = await readStored(this.#engine, id);
      if (entity !== undefined && isNewer(entity)) throw this.#refusal('it has parts of a newer format', id);
    }
  }

  #refusal(why: string, container: string): StoreError {
    const details = { table: this.#table, container: container as EntityId };
    return new StoreError('corrupt', `nothing was changed: ${why}`, details);
  }

  async #mendAll(sketch: Sketch): Promise<Mended[]> {
    await this.#placeStrays(sketch);
    if (sketch.isRootLost) return [await this.#mendRoot(sketch)];
    const faulty = [...sketch.linked.values()].filter(({ faults }) => faults > 0);
    const results: Mended[] = [];
    // Leaves first, as a branch is made anew of the level below it.
    for (const met of faulty.toSorted((a, b) => a.level - b.level)) results.push(await this.#mend(met, sketch));
    return results.length > 0 ? results : this.#clear(sketch);
  }

  /** If links are lost, an unreadable container may belong there, so it gets its place. */
  async #placeStrays(sketch: Sketch): Promise<void> {
    const { anyHeader } = sketch;
    const isWhole = !sketch.isRootLost && [...sketch.linked.values()].every(isSound);
    if (anyHeader === undefined || isWhole) return;
    for (const id of sketch.unreadable) {
      const entity = await readStored(this.#engine, id);
      const header = ownHeader(this.#table, entity);
      const first = entity && positionsIn(this.#table, entity, anyHeader.order)[0];
      // No leaf begins within a group (rule 34).
      const low = header?.low ?? (first && groupOf(first, anyHeader.groupBy));
      if (low !== undefined) sketch.stray(id, low, header);
    }
  }

  /** Once all linked containers are whole, removes unlinked faulty ones, as a vacuum would. */
  async #clear(sketch: Sketch): Promise<Mended[]> {
    const results: Mended[] = [];
    for (const { id, faults } of sketch.unlinked.values())
      if (faults > 0) results.push(await this.#clearOrphan(id, sketch));
    for (const id of sketch.unreadable) results.push(await this.#clearUnreadable(id, sketch));
    this.#unreadable = sketch.unreadable;
    return results;
  }

  async #clearOrphan(id: EntityId, { root }: Sketch): Promise<Mended> {
    await this.#save(id, await readStored(this.#engine, id), root.order);
    if (this.#context.isDryRun) return 'done';
    const fate = await judge(this.#engine, id, root.incarnation);
    return fate === 'removed' || fate === 'stripped' ? 'done' : 'left';
  }

  /** Removes it only in the second round, as a split under way may have linked it meanwhile. */
  async #clearUnreadable(id: EntityId, { root }: Sketch): Promise<Mended> {
    const entity = await readStored(this.#engine, id);
    if (entity === undefined) return 'again';
    await this.#save(id, entity, root.order);
    if (this.#context.isDryRun) return 'done';
    if (!this.#unreadable.has(id)) return 'again';
    const outcome = await sendRemoval(this.#engine, { id, version: entity.version });
    return outcome?.kind === 'removed' ? 'done' : 'again';
  }

  async #mend(met: Met, sketch: Sketch): Promise<Mended> {
    const entity = await readStored(this.#engine, met.id);
    // A writer or another repair has changed it meanwhile.
    if (entity?.version !== met.version) return 'again';
    const { root } = sketch;
    const remains = remainsOf(this.#table, entity, { incarnation: root.incarnation, container: met.container });
    const { header } = remains;
    if (header !== undefined && header.state !== 'merged')
      return header.level === met.level ? this.#rewrite(entity, remains, { ...header, ...NO_PAGES }, sketch) : 'left';
    const right = sketch.rightOf(met);
    const { low, high, right: next } = header ?? { low: met.low, high: right?.low, right: right?.container };
    const { container, level } = met;
    const base = this.#freshBase(sketch, { ...root, low, high, right: next, container, level });
    if (!this.#context.isDryRun && !(await this.#holdLeft(met, sketch))) return 'again';
    return this.#rewrite(entity, { ...remains, header: undefined }, base, sketch);
  }

  /** Makes a lost root anew of its nodes and pages, provided that they agree on the table. */
  async #mendRoot(sketch: Sketch): Promise<Mended> {
    const entity = await readStored(this.#engine, rootId(this.#table));
    if (ownHeader(this.#table, entity) !== undefined) return 'again';
    const incarnation = this.#incarnationOf(entity, sketch);
    const remains = remainsOf(this.#table, entity, { incarnation, container: ROOT_CONTAINER });
    sketch.keepOnly(incarnation);
    return this.#rewrite(entity, remains, this.#freshRoot(remains, sketch), sketch);
  }

  #freshRoot(remains: Remains, sketch: Sketch): Header {
    const pages = pagesFound(remains);
    const nodes = [...sketch.unlinked.values()];
    const names = new Set<string>(nodes.map(({ container }) => container));
    const isBranch = nodes.length > 0 && (namesAny(pages, names) || pages.every(({ page }) => page === undefined));
    const level = isBranch ? 1 + Math.max(...nodes.map((node) => node.level)) : 0;
    const order = sketch.anyHeader?.order ?? orderOf(pages);
    const { incarnation, container } = remains;
    const bounds = { low: EMPTY_BYTES, high: undefined, right: undefined };
    return this.#freshBase(sketch, { order, incarnation, container, level, ...bounds });
  }

  #incarnationOf(root: Entity | undefined, sketch: Sketch): Id64 {
    const named = incarnationsNamed(root);
    const known = named.length > 0 ? named : [...sketch.unlinked.keys(), ...sketch.unreadable].map(incarnationOf);
    const [incarnation, another] = new Set(known);
    if (incarnation !== undefined && another === undefined) return incarnation;
    const message = 'nothing was changed: no page, and no single incarnation, tells what the lost root was of';
    throw new StoreError('corrupt', message, { table: this.#table, container: rootId(this.#table) });
  }

  /**
   * Gives the live container on the left another version, and checks that it keeps its link.
   * Otherwise a writer might absorb the container that is mended from memory, and unlink it.
   */
  async #holdLeft(met: Met, sketch: Sketch): Promise<boolean> {
    let left = sketch.leftOf(met);
    while (left?.header?.state === 'retired') left = sketch.leftOf(left);
    if (left === undefined || met.low.length === 0) return true;
    const linking = await this.#readNode(left.id);
    if (linking === undefined) return false;
    await fence(this.#engine, linking);
    const after = await this.#readNode(left.id);
    if (after === undefined || after.version === linking.version) return false;
    return after.header.right === linking.header.right && after.header.state === 'live';
  }

  /** Undefined for a container that is missing or cannot be read. */
  async #readNode(id: EntityId): Promise<Snapshot | undefined> {
    try {
      return await this.#engine.reader.readPages(id, []);
    } catch (error) {
      if (error instanceof StoreError && error.code === 'corrupt') return undefined;
      throw error;
    }
  }

  /** The header for a container that lost its own, with numbers far above all known ones. */
  #freshBase(
    { anyHeader, most }: Sketch,
    own: Pick<Header, 'order' | 'incarnation' | 'container' | 'level' | 'low' | 'high' | 'right'>,
  ): Header {
    const { order, incarnation, container, level, low, high, right } = own;
    const first = most + NUMBERS_SKIPPED;
    const counted = { nextNumber: first, commitCount: first, commitIds: EMPTY_BYTES };
    const made = { createdAtMs: this.#engine.runtime.wallMs(), origin: undefined };
    const place = { container, level, low, high, right, state: 'live' } as const;
    return { order, groupBy: anyHeader?.groupBy, incarnation, ...place, ...counted, ...made, ...NO_PAGES };
  }

  /** Saves the container as it is, then writes all that can still be read of it. */
  async #rewrite(entity: Entity | undefined, remains: Remains, bare: Header, sketch: Sketch): Promise<Mended> {
    const engine = this.#engine;
    const id = nodeId(this.#table, bare.incarnation, bare.container);
    const origin = entity && { id, version: entity.version };
    const attempt = drawAttempt(engine);
    const base = successor(bare, attempt);
    const content = base.level === 0 ? this.#salvaged(remains, base) : this.#branched(base, sketch, origin);
    if (content === undefined) return 'left';
    await this.#save(id, entity, base.order, content);
    if (this.#context.isDryRun) return 'done';
    const [header, ...further] = this.#nodes(base, content, origin);
    const before = [...content.inserts, ...further];
    if (before.length > 0 && (await insertNodes(engine, before, attempt)) === undefined) return 'again';
    return this.#write(id, entity, header!, attempt);
  }

  #nodes(base: Header, { records, nextNumber }: Salvage, origin: Header['origin']): Header[] {
    const fresh = { drawId: () => drawId(this.#engine.runtime), origin };
    return nodesOf({ ...base, nextNumber }, records, fresh, this.#engine.rules);
  }

  async #write(id: EntityId, entity: Entity | undefined, header: Header, attempt: Id64): Promise<Mended> {
    const write =
      entity === undefined
        ? insertOf(id, header, attempt)
        : replaceOf({ id, version: entity.version }, header, attempt);
    const [outcome] = await sendWrites(this.#engine, [write]);
    this.#engine.cache.forget(id);
    if (outcome?.kind === 'written') return 'done';
    if (outcome?.kind === 'refused' && outcome.reason !== 'condition' && outcome.reason !== 'throttled')
      throw refusedError(outcome, this.#table, id);
    return 'again';
  }

  #salvaged(remains: Remains, base: Header): Content {
    const found = salvage(pagesFound(remains), base, this.#context.checkValue);
    // Without a header it is not known which pages there were.
    const lost = remains.header === undefined ? [{ from: base.low, to: base.high }] : found.lost;
    return { ...found, lost, inserts: [] };
  }

  /** The entries of a branch, from the level below it. Undefined if its first child is unknown. */
  #branched(base: Header, sketch: Sketch, origin: Header['origin']): Content | undefined {
    const { low, high, level, nextNumber } = base;
    const children = sketch.childrenOf(level, low, high);
    const [first] = children;
    if (first?.low.length === low.length) return { ...NOTHING, ...numbered(children, nextNumber) };
    // Only a branch names the leftmost node of a level; if none does, a new one takes its place.
    if (low.length > 0 || (first === undefined && high !== undefined)) return undefined;
    const container = drawId(this.#engine.runtime);
    const bounds = { ...base, container, level: level - 1, high: first?.low, right: first?.container };
    const fresh = { ...this.#freshBase(sketch, bounds), origin };
    const content =
      fresh.level === 0 ? { ...NOTHING, nextNumber: fresh.nextNumber } : this.#branched(fresh, sketch, origin);
    if (content === undefined) return undefined;
    const inserts = [...content.inserts, ...this.#nodes(fresh, content, origin)];
    const lost = [{ from: low, to: first?.low }];
    return { ...NOTHING, ...numbered([{ low, container }, ...children], nextNumber), lost, inserts };
  }

  /** Saves what a repair takes away, once per version. `entity` undefined: it is missing. */
  async #save(
    id: EntityId,
    entity: Entity | undefined,
    order: Header['order'],
    gone: Salvage = NOTHING,
  ): Promise<void> {
    const name = `${id} ${entity?.version}`;
    if (this.#saved.has(name)) return;
    const { lostKeys, olderKeys } = gone;
    const lost = gone.lost.map((stretch) => shown(stretch, order === 'hash'));
    const parts = Object.fromEntries(entity?.parts ?? []);
    await this.#context.save({ container: id, parts, lost, lostKeys, olderKeys });
    this.#saved.add(name);
  }
}

/** Whether its links can be followed, as they can from a leaf with a damaged page. */
function isSound({ header, level, faults }: Met): boolean {
  return header !== undefined && (level === 0 || faults === 0);
}

function numbered(children: readonly Start[], nextNumber: number): Pick<Salvage, 'records' | 'nextNumber'> {
  const records = children.map((child, index) => entryRecord(child, nextNumber + index));
  return { records, nextNumber: nextNumber + children.length };
}
