// Repairs a table: verifies it, mends each faulty container, and verifies again.
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { RepairReport } from '../contract/repair-report.ts';
import type { Finding } from '../contract/verify-report.ts';
import { rootId } from '../format/entity-ids.ts';
import { groupOf } from '../format/position.ts';
import { sendRemoval } from '../io/send.ts';
import { type Mended, Mender, type RepairContext } from './mend.ts';
import { judge } from './orphans.ts';
import { isNewer, ownHeader, positionsIn, readStored } from './remains.ts';
import { type Met, Sketch } from './sketch.ts';
import { verifyTable } from './verify.ts';

/** The most rounds. Two are usual; writers beside the repair, and throttling, cause more. */
const ROUNDS_MAX = 20;
/** The pause before another round after a refused write. */
const PAUSE_MS = 200;

/** Throws `not_found`; or `corrupt` for what it cannot judge, and then has changed nothing. */
export async function repairTable(context: RepairContext): Promise<RepairReport> {
  return new Repair(context).run();
}

class Repair {
  readonly #context: RepairContext;
  readonly #table: string;
  readonly #mender: Mender;
  /** Unlinked containers that the previous round could not read. */
  #unreadable: ReadonlySet<EntityId> = new Set();

  constructor(context: RepairContext) {
    this.#context = context;
    this.#table = context.engine.table;
    this.#mender = new Mender(context);
  }

  async run(): Promise<RepairReport> {
    const { engine, isDryRun } = this.#context;
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
      if (results.includes('again')) await engine.runtime.sleep(PAUSE_MS);
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
      const entity = await readStored(this.#context.engine, id);
      if (entity !== undefined && isNewer(entity)) throw this.#refusal('it has parts of a newer format', id);
    }
  }

  #refusal(why: string, container: string): StoreError {
    const details = { table: this.#table, container: container as EntityId };
    return new StoreError('corrupt', `nothing was changed: ${why}`, details);
  }

  async #mendAll(sketch: Sketch): Promise<Mended[]> {
    await this.#placeStrays(sketch);
    if (sketch.isRootLost) return [await this.#mender.mendRoot(sketch)];
    const faulty = [...sketch.linked.values()].filter(({ faults }) => faults > 0);
    const results: Mended[] = [];
    // Leaves first, as a branch is made anew of the level below it.
    for (const met of faulty.toSorted((a, b) => a.level - b.level)) results.push(await this.#mender.mend(met, sketch));
    return results.length > 0 ? results : this.#clear(sketch);
  }

  /** If links are lost, an unreadable container may belong there, so it gets its place. */
  async #placeStrays(sketch: Sketch): Promise<void> {
    const { anyHeader } = sketch;
    const isWhole = !sketch.isRootLost && [...sketch.linked.values()].every(isSound);
    if (anyHeader === undefined || isWhole) return;
    for (const id of sketch.unreadable) {
      const entity = await readStored(this.#context.engine, id);
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
    await this.#mender.save(id, await readStored(this.#context.engine, id), root.order);
    if (this.#context.isDryRun) return 'done';
    const fate = await judge(this.#context.engine, id, root.incarnation);
    return fate === 'removed' || fate === 'stripped' ? 'done' : 'left';
  }

  /** Removes it only in the second round, as a split under way may have linked it meanwhile. */
  async #clearUnreadable(id: EntityId, { root }: Sketch): Promise<Mended> {
    const entity = await readStored(this.#context.engine, id);
    if (entity === undefined) return 'again';
    await this.#mender.save(id, entity, root.order);
    if (this.#context.isDryRun) return 'done';
    if (!this.#unreadable.has(id)) return 'again';
    const outcome = await sendRemoval(this.#context.engine, { id, version: entity.version });
    return outcome?.kind === 'removed' ? 'done' : 'again';
  }
}

/** Whether its links can be followed, as they can from a leaf with a damaged page. */
function isSound({ header, level, faults }: Met): boolean {
  return header !== undefined && (level === 0 || faults === 0);
}
