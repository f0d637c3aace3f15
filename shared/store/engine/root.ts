// One table's root: from memory until something speaks against it (rules 12, 15).
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import { incarnationPrefix, rootId } from '../format/ids.ts';
import type { Route, TreeContext } from './route.ts';

export class Root {
  readonly id: EntityId;
  readonly #context: TreeContext;

  constructor(context: TreeContext) {
    this.#context = context;
    this.id = rootId(context.table);
  }

  /** From memory unless `anew`. Throws `not_found` if the table does not exist. */
  async get(anew = false): Promise<Snapshot> {
    const { cache, reader, table } = this.#context;
    const cached = anew ? undefined : cache.get(this.id);
    if (cached?.header.state === 'live') return cached;
    const root = await reader.readWhole(this.id);
    if (root === undefined || root.header.state !== 'live') throw tableNotFound(table);
    return root;
  }

  /** Reads it anew, without branches that led astray. If it has only grown, it is right. */
  async restart(astray: Snapshot, level: number): Promise<void> {
    const { cache, table } = this.#context;
    const hasGrown = astray.id === this.id && astray.header.state === 'live' && astray.header.level > level;
    if (hasGrown) return;
    cache.forgetBranches(incarnationPrefix(table, astray.header.incarnation), this.id);
    await this.get(true);
  }

  /**
   * Reads it anew after a node was missing. Throws `not_found` if the table is gone, and `corrupt`
   * if the node was missed before and the root still has its incarnation (rule 15).
   */
  async afterMiss(missing: Route, missedBefore: boolean): Promise<void> {
    const { cache, reader, table } = this.#context;
    cache.forgetBranches(incarnationPrefix(table, missing.incarnation), this.id);
    const root = await reader.readWhole(this.id);
    const where = { table, container: missing.id };
    if (root === undefined)
      throw new StoreError('corrupt', 'the root of a table that has containers is missing', where);
    if (root.header.state !== 'live') throw tableNotFound(table);
    if (missedBefore && root.header.incarnation === missing.incarnation) {
      throw new StoreError('corrupt', 'a container that the table links to does not exist', where);
    }
  }
}
