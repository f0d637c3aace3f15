// Reading branches: no more of them than the page that names a child, and what memory lacks.
import { pageToChild } from '../container/branch.ts';
import { isKnown, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { tableNotFound } from '../contract/errors.ts';
import { type Position, within } from '../format/position.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Reader } from '../io/reader.ts';

export class BranchReader {
  readonly #table: string;
  readonly #reader: Reader;
  readonly #cache: ContainerCache;

  constructor(table: string, reader: Reader, cache: ContainerCache) {
    this.#table = table;
    this.#reader = reader;
    this.#cache = cache;
  }

  /** The branch with the page for `position`, from memory if it can; undefined if missing. */
  async look(id: EntityId, position: Position): Promise<Snapshot | undefined> {
    const cached = this.#cache.get(id);
    if (cached === undefined) return this.#reader.readWhole(id);
    return isPageKnown(cached, position) ? cached : this.readFor(cached, position);
  }

  /** The same branch with the page that names the child for `position`. */
  async withPage(branch: Snapshot, position: Position): Promise<Snapshot> {
    if (isPageKnown(branch, position)) return branch;
    const known = await this.readFor(branch, position);
    if (known === undefined || known.header.state !== 'live') throw tableNotFound(this.#table);
    return known;
  }

  /**
   * Reads the page, and those that changed since memory had them: other positions need them soon.
   * All of them if that page has another slot by now.
   */
  async readFor(branch: Snapshot, position: Position): Promise<Snapshot | undefined> {
    const page = pageToChild(branch, position);
    const pages = page && branch.header.pages.filter((one) => one === page || !isKnown(one));
    const slots = pages?.map(({ slot }) => slot);
    const read = slots === undefined ? undefined : await this.#reader.readPages(branch.id, slots);
    return read !== undefined && isPageKnown(read, position) ? read : this.#reader.readWhole(branch.id);
  }
}

/** Whether the branch has the page for `position`, or does not own it and needs none. */
function isPageKnown(branch: Snapshot, position: Position): boolean {
  const { low, high } = branch.header;
  return !within(position, low, high) || pageToChild(branch, position)?.content.isKnown === true;
}
