// Makes the rows of new pages: assigns slots and numbers, compresses each page and seals it in an
// envelope with its address. A page that moves to another node or slot keeps its compressed body.
import { chunksOf, type DriverLimits } from '../contract/driver.ts';
import type { Compression } from '../contract/runtime.ts';
import { compress, moveSealed, type SealedPage, toEnvelopeCompressed } from '../format/envelope.ts';
import type { Header } from '../format/header.ts';
import { type Page, recordCount } from '../format/page-body.ts';
import { asDeadSlot, type DeadSlot, PageContent, type PageRef } from '../format/page-table.ts';
import type { Position } from '../format/position.ts';
import { addressOf, pageOf, peekPage, type Snapshot } from './snapshot.ts';

/** Expanded bytes of a page, measured in DECISIONS.md, 8. */
const PAGE_BYTES = 8 * 1024;

/** Smaller pages stay raw, as they merge soon. That saves a lone put a quarter of its time. */
const COMPRESSED_SHARE = 1 / 2;

/** The rules for all pages that a table's engine writes. */
export interface PageRules {
  readonly table: string;
  readonly limits: DriverLimits;
  readonly compression: Compression;
  /** About how many bytes a page has, expanded. */
  readonly pageBytes: number;
}

/** The `pageBytes` for a driver. Even a small entity should hold many pages. */
export function pageBytesFor({ entityBytesMax }: DriverLimits): number {
  return Math.min(PAGE_BYTES, Math.ceil(entityBytesMax / 16));
}

/** What a new page needs for its row. */
export interface NewPageRow {
  readonly low: Position;
  readonly slot: number;
  /** A number that was never used in this container. */
  readonly number: number;
}

/** Seals a page of `node`, and compresses it if it is large enough. */
export function sealPage(page: Page, node: Header, { low, slot, number }: NewPageRow, rules: PageRules): PageRef {
  const isSmall = page.body.length < COMPRESSED_SHARE * rules.pageBytes;
  const compressed = compress(page.body, isSmall ? 'none' : rules.compression);
  const sealed = toEnvelopeCompressed(compressed, page.body.length, addressOf(node, slot, number));
  return {
    low,
    slot,
    number,
    records: recordCount(page),
    sealedBytes: sealed.bytes.length,
    crc: sealed.crc,
    compression: sealed.compression,
    mayHoldDead: page.mayHoldDead,
    chunksMost: chunksOf(sealed.bytes.length, rules.limits),
    fingerprints: undefined,
    content: new PageContent(sealed.bytes, page),
  };
}

/** The row of a slot that took up to `chunksBefore` chunks since the last replace (rule 23). */
export function withChunksBefore(ref: PageRef, chunksBefore: number): PageRef {
  return ref.chunksMost >= chunksBefore ? ref : { ...ref, chunksMost: chunksBefore };
}

/** Where a page moves: a slot of a node, under a number that is fresh there (rule 13). */
interface Destination extends Omit<NewPageRow, 'low'> {
  readonly node: Header;
}

/** Puts a known page into another envelope, or seals it anew. Throws `corrupt` if it is damaged. */
export function movePage(from: Snapshot, ref: PageRef, { node, slot, number }: Destination, rules: PageRules): PageRef {
  const { sealed } = ref.content;
  if (sealed === undefined)
    return sealPage(pageOf(from, ref, rules.table), node, { low: ref.low, slot, number }, rules);
  let moved: SealedPage;
  try {
    moved = moveSealed(sealed, ref.crc, addressOf(node, slot, number));
  } catch (error) {
    // The bytes are not the page's. This forgets them, and throws the error that a reader gets.
    peekPage(from, ref, rules.table);
    throw error;
  }
  return {
    ...ref,
    slot,
    number,
    crc: moved.crc,
    sealedBytes: moved.bytes.length,
    chunksMost: chunksOf(moved.bytes.length, rules.limits),
    content: new PageContent(moved.bytes, ref.content.page),
  };
}

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

/** Assigns slots and numbers to a commit's new pages, and reuses the slots of pages that go. */
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
