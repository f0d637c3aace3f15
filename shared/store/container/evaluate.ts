// Applies changes to a snapshot: from its page table to that of the next, whose new pages are
// sealed in a second step. Pure; it makes no writes.
import { compareBytes } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import {
  cutPage,
  EMPTY_PAGE,
  fingerprintsOf,
  keyAt,
  lowBetween,
  lowerBound,
  type Page,
  pageFrom,
  recordCount,
} from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound, type Position, type PositionOf, positionsOf } from '../format/position.ts';
import type { Change, Clearing, Verdict } from './change.ts';
import { planCompaction } from './compaction.ts';
import { countRecords } from './count.ts';
import { decideAll, type DecisionRules } from './decide.ts';
import {
  isNotAbove,
  isWithin,
  layerBounds,
  layersOf,
  type OwnedRow,
  ownedRows,
  type Range,
  rowBefore,
  startingAt,
  tableOfLayers,
} from './layers.ts';
import { mergeLayers, mergePages, SCRATCH, withoutDead, withoutRange } from './merge-pages.ts';
import { type NewPageRow, type PageRules, sealPage, Slots, type SlotsAfter, withChunksBefore } from './new-pages.ts';
import { pageOf, peekPage, type Snapshot } from './snapshot.ts';

export interface EvaluationRules extends PageRules, DecisionRules {
  /** Whether all layers are merged into the base, before a split or instead of one. */
  readonly mergesAll: boolean;
  /** The layer to write, if `planCompaction` was already called for these changes. */
  readonly target?: number | undefined;
  /** Whether all is written anew, as one layer of evenly filled pages without dead records. */
  readonly purges: boolean;
}

export interface WrittenPage {
  readonly ref: PageRef;
  readonly chunksBefore: number;
}

/** A new page, before it is sealed. */
export interface UnsealedPage extends NewPageRow {
  readonly page: Page;
  /** The most chunks that its slot took since the entity was inserted or replaced. */
  readonly chunksBefore: number;
}

/** The container after the changes, its new pages not sealed yet. */
export interface UnsealedEvaluation extends SlotsAfter {
  readonly verdicts: readonly Verdict[];
  /** How many changes had an effect. Each took a number. */
  readonly appliedCount: number;
  readonly pages: readonly (PageRef | UnsealedPage)[];
  readonly layers: readonly number[];
  /** How many rows, from the first on, are those of the snapshot. */
  readonly rowsKept: number;
}

export interface Evaluation extends Omit<UnsealedEvaluation, 'rowsKept'> {
  readonly pages: readonly PageRef[];
  /** The rows of `pages` whose bytes are new, and the most chunks their slots took before. */
  readonly written: readonly WrittenPage[];
}

/**
 * Applies changes of this container that are sorted by position, then by effect. The pages that
 * `planCompaction` asks for must be known, or all pages if everything is merged or purged.
 */
export function evaluate(snapshot: Snapshot, changes: readonly Change[], rules: EvaluationRules): UnsealedEvaluation {
  const { header } = snapshot;
  const [first] = changes;
  if (first?.whole?.kind === 'clear') return evaluateClearing(snapshot, first.position, first.whole, rules);
  const { mergesAll, purges, target } = rules;
  const { records, verdicts, nextNumber } = decideAll(snapshot, changes, rules);
  const appliedCount = nextNumber - header.nextNumber;
  const slots = new Slots(header, nextNumber);
  const layout = new Layout(snapshot, rules, slots);
  const isUnchanged = records.length === 0 && !purges && !(mergesAll && header.layers.length > 0);
  const delta = pageFrom(records, SCRATCH.changes);
  const content = isUnchanged
    ? unchanged(header)
    : purges
      ? layout.writeAnew(delta)
      : layout.write(delta, mergesAll ? 0 : (target ?? planCompaction(snapshot, changes).target));
  return { ...content, ...slots.after, verdicts, appliedCount };
}

/** Removes the records of a range from all layers at once, so that no tombstones are needed. */
function evaluateClearing(
  snapshot: Snapshot,
  from: Position,
  { end, incarnation: wanted }: Clearing,
  rules: EvaluationRules,
): UnsealedEvaluation {
  const { header } = snapshot;
  const { incarnation, high: reached } = header;
  const isOther = wanted !== undefined && wanted !== incarnation;
  const range = { from, end: isOther ? from : end };
  const { stored, expired } = isOther ? NOTHING : countRecords(snapshot, range, rules.nowMs, rules.table);
  const [version, record] = [header.nextNumber, undefined];
  // Each removal takes a number, as a delete does.
  const slots = new Slots(header, version + stored);
  const layout = new Layout(snapshot, rules, slots);
  const isUnchanged = stored === 0 && !(rules.mergesAll && header.layers.length > 0);
  const content = isUnchanged ? unchanged(header) : layout.without(range);
  const verdict: Verdict = isOther
    ? { kind: 'unchanged', incarnation, record }
    : { kind: 'applied', incarnation, version, record, cleared: { count: stored - expired, reached } };
  return { ...content, ...slots.after, verdicts: [verdict], appliedCount: stored };
}

const NOTHING = { stored: 0, expired: 0 };

function unchanged({ pages, layers }: Header): Content {
  return { pages, layers, rowsKept: pages.length };
}

type Row = PageRef | UnsealedPage;

type Content = Pick<UnsealedEvaluation, 'pages' | 'layers' | 'rowsKept'>;

/** Lays out the pages of the next snapshot. */
class Layout {
  readonly #snapshot: Snapshot;
  readonly #rules: EvaluationRules;
  readonly #positionOf: PositionOf;
  readonly #slots: Slots;

  constructor(snapshot: Snapshot, rules: EvaluationRules, slots: Slots) {
    const { order, level } = snapshot.header;
    this.#snapshot = snapshot;
    this.#rules = rules;
    this.#positionOf = positionsOf(order, level);
    this.#slots = slots;
  }

  /** Writes `delta`, merged with the layers above `target`, into the layer `target`. */
  write(delta: Page, target: number): Content {
    const { header } = this.#snapshot;
    const rowsKept = layerBounds(header)[target]!;
    const layers = layersOf(header);
    const [before, above] = [layers[target] ?? [], layers.slice(target + 1)];
    for (const rows of above) this.#slots.free(rows);
    const appended = above.length === 0 ? this.#appended(before, delta, target === 0) : undefined;
    const rows = appended ?? this.#rewrite(before, this.#laidOver(above, delta), target === 0);
    return {
      pages: (header.pages.slice(0, rowsKept) as Row[]).concat(rows),
      rowsKept,
      layers: target === 0 ? [] : [...header.layers.slice(0, target - 1), rows.length],
    };
  }

  /** Writes all records into new pages of a base without layers. */
  writeAnew(delta: Page): Content {
    const { header } = this.#snapshot;
    const layers = layersOf(header).map((rows) => rows.map((ref) => peekPage(this.#snapshot, ref, this.#rules.table)));
    return this.#inOneLayer([...layers, [delta]]);
  }

  #inOneLayer(layers: readonly (readonly Page[])[]): Content {
    this.#slots.free(this.#snapshot.header.pages);
    const pages = this.#replacePage(undefined, mergeLayers(layers, this.#positionOf), true);
    return { pages, layers: [], rowsKept: 0 };
  }

  /** All records except those of the range, in one layer if all layers are to be merged. */
  without(range: Range): Content {
    const { header } = this.#snapshot;
    const layers = layersOf(header).map((rows) => ownedRows(rows, header.high));
    if (this.#rules.mergesAll)
      return this.#inOneLayer(layers.map((rows) => rows.map((row) => this.#restOf(row, range))));
    const left = layers.map((rows, layer) => {
      const rest = rows.flatMap((row) => this.#rowsWithout(row, range, layer === 0));
      return startingAt(rest, header.low);
    });
    return { ...tableOfLayers(left), rowsKept: 0 };
  }

  #rowsWithout(row: OwnedRow, range: Range, isBase: boolean): Row[] {
    const { ref } = row;
    if (isNotAbove(row.high, range.from) || !beforeBound(row.low, range.end)) return [ref];
    const rest = this.#restOf(row, range);
    if (recordCount(rest) === ref.records) return [ref];
    return this.#replacePage(ref, rest, isBase);
  }

  /** The records of a row outside the range. A page that lies within the range is not opened. */
  #restOf(row: OwnedRow, range: Range): Page {
    return isWithin(row, range) ? EMPTY_PAGE : withoutRange(this.#pageOf(row.ref), range, this.#positionOf);
  }

  /** Merges layers, the oldest first, and `delta` over them into one page in scratch memory. */
  #laidOver(layers: readonly (readonly PageRef[])[], delta: Page): Page {
    const pages = layers.map((rows) => rows.map((ref) => this.#pageOf(ref)));
    return mergeLayers([...pages, [delta]], this.#positionOf, SCRATCH.layers);
  }

  /** Appends `delta` as pages of its own if it lies behind all records and fills two pages. */
  #appended(rows: readonly PageRef[], delta: Page, isBase: boolean): Row[] | undefined {
    const last = rows.at(-1);
    if (recordCount(delta) === 0 || (isBase && delta.mayHoldDead)) return undefined;
    if (last !== undefined && !this.#isBehind(last, this.#positionOf(keyAt(delta, 0)))) return undefined;
    const pages = cutPage(delta, this.#rules.pageBytes);
    if (rows.length > 0 && pages.length < 2) return undefined;
    return [...rows, ...this.#newPages(pages, undefined, last && this.#pageOf(last))];
  }

  /** Whether the position lies behind all records of the row, whose page is known if it owns it. */
  #isBehind(last: PageRef, position: Position): boolean {
    if (compareBytes(position, last.low) < 0) return false;
    const page = this.#pageOf(last);
    return lowerBound(page, position, this.#positionOf) === recordCount(page);
  }

  /** Merges the records of `newer` into the rows of a layer. Rows without changes stay. */
  #rewrite(rows: readonly PageRef[], newer: Page, isBase: boolean): Row[] {
    const rewritten: Row[] = [];
    let taken = 0;
    for (let first = 0; first < recordCount(newer);) {
      const row = Math.max(0, rowBefore(rows, taken, rows.length, this.#positionOf(keyAt(newer, first))));
      for (const ref of rows.slice(taken, row)) rewritten.push(ref);
      const end = rows[row + 1]?.low;
      const next = end === undefined ? recordCount(newer) : lowerBound(newer, end, this.#positionOf, first);
      const ref = rows[row];
      const page = mergePages(ref === undefined ? EMPTY_PAGE : this.#pageOf(ref), newer, this.#positionOf, {
        first,
        end: next,
        memory: SCRATCH.page,
      });
      rewritten.push(...this.#replacePage(ref, page, isBase));
      taken = row + 1;
      first = next;
    }
    return startingAt(rewritten.concat(rows.slice(taken)), this.#snapshot.header.low);
  }

  /** Rows for a page in place of `ref`: none if it is empty, several if it is large. */
  #replacePage(ref: PageRef | undefined, page: Page, isBase: boolean): UnsealedPage[] {
    const left = isBase ? withoutDead(page, this.#rules.nowMs) : page;
    if (recordCount(left) > 0) return this.#newPages(cutPage(left, this.#rules.pageBytes), ref, undefined);
    if (ref !== undefined) this.#slots.free([ref]);
    return [];
  }

  /** Rows for new pages. The first takes the place of `ref`; `left` is the page before it. */
  #newPages(pages: readonly Page[], ref: PageRef | undefined, left: Page | undefined): UnsealedPage[] {
    let before = left;
    return pages.map((page, index) => {
      const low =
        before === undefined
          ? this.#lowOfFirst(ref, page)
          : lowBetween(before, page, this.#snapshot.header, this.#positionOf);
      const slot = index === 0 && ref !== undefined ? ref : this.#slots.take();
      before = page;
      return { low, slot: slot.slot, number: this.#slots.takeNumber(), page, chunksBefore: slot.chunksMost };
    });
  }

  /** The low of the row that it replaces. In a branch, the page's first separator. */
  #lowOfFirst(ref: PageRef | undefined, page: Page): Position {
    if (ref === undefined) return this.#snapshot.header.low;
    return this.#snapshot.header.level > 0 ? keyAt(page, 0) : ref.low;
  }

  #pageOf(ref: PageRef): Page {
    return pageOf(this.#snapshot, ref, this.#rules.table);
  }
}

/** The header holds the fingerprints of a layer of up to so many records. Larger ones are read. */
const FINGERPRINTS_MAX = 128;
/**
 * Layers above the base are not compressed below so many pages. That halves the bytes that lone
 * puts compress, for 1 to 2 % more stored bytes (DECISIONS.md, 8).
 */
const COMPRESSED_LAYER_PAGES = 3;

/** Seals the new pages of an evaluation of `node`. */
export function sealPages(unsealed: UnsealedEvaluation, node: Header, rules: PageRules): Evaluation {
  const { rowsKept, layers } = unsealed;
  const isRaw = layers.length > 0 && newBytes(unsealed) < COMPRESSED_LAYER_PAGES * rules.pageBytes;
  const pageRules: PageRules = isRaw ? { ...rules, compression: 'none' } : rules;
  const fingerprintsFrom = firstFingerprinted(unsealed);
  // Most rows stay as they are, and are copied at once.
  const pages = unsealed.pages.slice();
  const written: WrittenPage[] = [];
  for (let row = rowsKept; row < pages.length; row += 1) {
    const one = pages[row]!;
    if (!isUnsealed(one)) continue;
    const sealed = withChunksBefore(sealPage(one.page, node, one, pageRules), one.chunksBefore);
    const ref = row >= fingerprintsFrom ? { ...sealed, fingerprints: fingerprintsOf(one.page, node.order) } : sealed;
    pages[row] = ref;
    written.push({ ref, chunksBefore: one.chunksBefore });
  }
  return { ...unsealed, pages: pages as PageRef[], written };
}

/** The first row of the highest layer if that is small and not the base, else the row count. */
function firstFingerprinted({ pages, layers }: UnsealedEvaluation): number {
  const top = pages.length - (layers.at(-1) ?? 0);
  const records = pages
    .slice(top)
    .reduce((sum, one) => sum + (isUnsealed(one) ? recordCount(one.page) : one.records), 0);
  return records > FINGERPRINTS_MAX ? pages.length : top;
}

function newBytes({ pages, rowsKept }: UnsealedEvaluation): number {
  return pages.slice(rowsKept).reduce((sum, one) => sum + (isUnsealed(one) ? one.page.body.length : 0), 0);
}

function isUnsealed(row: PageRef | UnsealedPage): row is UnsealedPage {
  return 'page' in row;
}
