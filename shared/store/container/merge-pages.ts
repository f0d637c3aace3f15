// Merges sorted runs of records, of which the newest of each position counts. Only copies bytes.
import { ScratchMemory } from '../format/bytes.ts';
import {
  compareKeyAt,
  EMPTY_PAGE,
  isTombstone,
  keyAt,
  lowerBoundNear,
  mayHoldDead,
  type Page,
  recordAt,
  recordCount,
  slicePage,
  type StoredRecord,
} from '../format/page-body.ts';
import type { PositionOf } from '../format/position.ts';
import { indexesIn, type Range } from './layers.ts';

/** Buffers for the intermediate pages of a commit, which merges several times per page it keeps. */
export const SCRATCH = {
  /** For the records of the changes themselves. */
  changes: new ScratchMemory(),
  /** Two, as each step of a merge of layers reads what the step before it wrote. */
  layers: [new ScratchMemory(), new ScratchMemory()],
  page: new ScratchMemory(),
} as const;

interface MergeOptions {
  readonly first?: number;
  readonly end?: number;
  /** For the merged page. Default: a buffer of its own. */
  readonly memory?: ScratchMemory | undefined;
}

/** Merges the records of `newer` from `first` to `end` (exclusive) over those of `older`. */
export function mergePages(
  older: Page,
  newer: Page,
  positionOf: PositionOf,
  { first = 0, end = recordCount(newer), memory }: MergeOptions = {},
): Page {
  if (first === end) return older;
  if (recordCount(older) === 0) return first === 0 && end === recordCount(newer) ? newer : slicePage(newer, first, end);
  const newerBytes = newer.starts[end]! - newer.starts[first]!;
  const builder = new PageBuilder(older.body.length + newerBytes, older.mayHoldDead || newer.mayHoldDead, memory);
  // The expected distance between insertion points, with which each search begins.
  const near = Math.ceil(recordCount(older) / (end - first));
  let next = 0;
  for (let index = first; index < end; index += 1) {
    const key = keyAt(newer, index);
    const at = lowerBoundNear(older, positionOf(key), positionOf, { from: next, near });
    builder.copy(older, next, at);
    builder.copy(newer, index, index + 1);
    next = at < recordCount(older) && compareKeyAt(older, at, key) === 0 ? at + 1 : at;
  }
  builder.copy(older, next, recordCount(older));
  return builder.finish();
}

/** Joins pages that follow each other into one. */
export function concatenate(pages: readonly Page[]): Page {
  if (pages.length === 1) return pages[0]!;
  const bytes = pages.reduce((sum, page) => sum + page.body.length, 0);
  const builder = new PageBuilder(
    bytes,
    pages.some((page) => page.mayHoldDead),
  );
  for (const page of pages) builder.copy(page, 0, recordCount(page));
  return builder.finish();
}

/** Merges layers, given oldest first, into one page. The oldest and largest is copied only once. */
export function mergeLayers(
  layers: readonly (readonly Page[])[],
  positionOf: PositionOf,
  memories: readonly ScratchMemory[] = [],
): Page {
  return layers.reduceRight((flat, layer) => {
    const memory = memories.find((one) => !one.holds(flat.body));
    return mergePages(concatenate(layer), flat, positionOf, { memory });
  }, EMPTY_PAGE);
}

/** The records within the range. */
export function inRange(page: Page, range: Range, positionOf: PositionOf): Page {
  const { first, end } = indexesIn(page, range, positionOf);
  return slicePage(page, first, end);
}

/** The records outside the range. */
export function withoutRange(page: Page, range: Range, positionOf: PositionOf): Page {
  const { first, end } = indexesIn(page, range, positionOf);
  return concatenate([slicePage(page, 0, first), slicePage(page, end, recordCount(page))]);
}

/** How long expired records stay. The clocks of processes may differ by less than this. */
export const PURGE_AFTER_MS = 5 * 60_000;

/** Whether a purge drops the record: a tombstone, or one that expired `PURGE_AFTER_MS` ago. */
export function isPurgeable(record: StoredRecord, nowMs: number): boolean {
  return isTombstone(record) || (record.expiresAtMs !== undefined && record.expiresAtMs < nowMs - PURGE_AFTER_MS);
}

/** The page without purgeable records, as a base has it. */
export function withoutDead(page: Page, nowMs: number): Page {
  if (!page.mayHoldDead) return page;
  const builder = new PageBuilder(page.body.length, page.mayHoldDead);
  for (let index = 0; index < recordCount(page); index += 1) {
    if (!isPurgeable(recordAt(page, index), nowMs)) builder.copy(page, index, index + 1);
  }
  const living = builder.finish();
  return { ...living, mayHoldDead: mayHoldDead(living) };
}

class PageBuilder {
  readonly #body: Buffer;
  readonly #starts: number[] = [];
  readonly #mayHoldDead: boolean;
  #length = 0;

  constructor(bytesMax: number, mayHoldDead: boolean, memory?: ScratchMemory) {
    this.#body = memory?.take(bytesMax) ?? Buffer.allocUnsafe(bytesMax);
    this.#mayHoldDead = mayHoldDead;
  }

  copy(page: Page, first: number, end: number): void {
    if (end <= first) return;
    const from = page.starts[first]!;
    const shift = this.#length - from;
    for (let index = first; index < end; index += 1) this.#starts.push(page.starts[index]! + shift);
    const to = page.starts[end]!;
    this.#body.set(page.body.subarray(from, to), this.#length);
    this.#length += to - from;
  }

  finish(): Page {
    this.#starts.push(this.#length);
    const body = this.#body.subarray(0, this.#length);
    return { body, starts: this.#starts, mayHoldDead: this.#mayHoldDead };
  }
}
