// Assigns slots and numbers to the new pages of a commit, and reuses the slots of pages that go.
import type { Header } from '../format/header.ts';
import { asDeadSlot, type DeadSlot, type PageRef } from '../format/page-table.ts';

/** The slots and the next number once all pages of the commit have theirs. */
export interface SlotsAfter {
  /** Slots whose page this commit removes, and that no other page took. */
  readonly dropped: readonly DeadSlot[];
  readonly deadSlots: readonly DeadSlot[];
  readonly nextNumber: number;
}

/** The first slot that no page has taken since the last replace. */
export function firstNewSlot({ pages, deadSlots }: Pick<Header, 'pages' | 'deadSlots'>): number {
  return 1 + [...pages, ...deadSlots].reduce((most, { slot }) => Math.max(most, slot), -1);
}

export class Slots {
  readonly #header: Header;
  /** First the slots that were empty before, then those of pages that go, which are taken first. */
  readonly #free: DeadSlot[];
  #emptyCount: number;
  #nextSlot: number | undefined;
  #nextNumber: number;

  /** `nextNumber` is the first number that no record took. */
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

  /** Frees the slots of these rows, whose pages go. */
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
