// The slots and numbers of a commit's pages: which are free, taken and given up. Pure.
import type { Header } from '../format/header.ts';
import { asDeadSlot, type DeadSlot, type PageRef } from '../format/page-table.ts';

/** As they are when all pages have theirs. */
export interface SlotsAfter {
  /** Slots of the snapshot whose page is gone and that nothing else took. */
  readonly dropped: readonly DeadSlot[];
  readonly deadSlots: readonly DeadSlot[];
  readonly nextNumber: number;
}

/** The first slot that no page ever took. */
export function firstNewSlot({ pages, deadSlots }: Header): number {
  return 1 + [...pages, ...deadSlots].reduce((most, { slot }) => Math.max(most, slot), -1);
}

export class Slots {
  readonly #header: Header;
  /** First those without a page, then those of pages that go, taken first. */
  readonly #free: DeadSlot[];
  #emptyCount: number;
  #nextSlot: number | undefined;
  #nextNumber: number;

  /** `nextNumber`: the first that no record took. */
  constructor(header: Header, nextNumber: number) {
    this.#header = header;
    this.#free = header.deadSlots.slice();
    this.#emptyCount = header.deadSlots.length;
    this.#nextNumber = nextNumber;
  }

  get after(): SlotsAfter {
    const deadSlots = this.#free;
    return { dropped: deadSlots.slice(this.#emptyCount), deadSlots, nextNumber: this.#nextNumber };
  }

  takeNumber(): number {
    return this.#nextNumber++;
  }

  /** The pages of these rows go. */
  free(rows: readonly PageRef[]): void {
    for (const ref of rows) this.#free.push(asDeadSlot(ref));
  }

  take(): DeadSlot {
    const free = this.#free.pop();
    this.#emptyCount = Math.min(this.#emptyCount, this.#free.length);
    if (free !== undefined) return free;
    this.#nextSlot ??= firstNewSlot(this.#header);
    return { slot: this.#nextSlot++, chunksMost: 0 };
  }
}
