// The records of one leaf for a scan, with its layers merged. Pages are opened one by one, as
// together they may expand to a hundred times their stored bytes.
import { indexesIn, layersOf, type OwnedRow, type Range, rowBefore, rowsIn } from '../container/layers.ts';
import { mergeLayers } from '../container/merge-pages.ts';
import { pageOf, type Snapshot } from '../container/snapshot.ts';
import { StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { compareBytes } from '../format/bytes.ts';
import { type Page, recordCount, slicePage } from '../format/page.ts';
import { beforeBound, type PositionOf, type Position, type UpperBound } from '../format/position.ts';

/** A stretch whose records are not known because of a damaged page. */
export interface DamagedStretch {
  readonly error: StoreError;
  readonly low: Position;
  readonly high: UpperBound;
}

/** The positions of a leaf from `from` to `end`. Their pages must be in memory. */
export interface LeafRange extends Range {
  readonly engine: Engine;
  readonly leaf: Snapshot;
  readonly positionOf: PositionOf;
  /** From the end downwards. */
  readonly isReverse: boolean;
}

/** Gives the records of the range as pages in order, and damaged stretches in their places. */
export function* pagesIn(range: LeafRange): Generator<Page | DamagedStretch> {
  const { engine, leaf, isReverse } = range;
  const layers = layersOf(leaf.header).map((refs) => rowsIn(refs, leaf.header.high, range));
  const starts = startsIn(layers, range);
  try {
    for (let count = 0; count < starts.length; count += 1) {
      const index = isReverse ? starts.length - 1 - count : count;
      yield joinedPage(layers, range, { from: starts[index]!, end: starts[index + 1] ?? range.end });
    }
  } finally {
    // The cache must count the expanded pages, which take more memory.
    const held = engine.cache.get(leaf.id);
    if (held !== undefined) engine.cache.offer(held);
  }
}

/** Cuts the range into parts, each of which lies in at most one page of each layer. */
function startsIn(layers: readonly (readonly OwnedRow[])[], { from, end }: Range): Position[] {
  const lows = layers.flat().map(({ low }) => low);
  const within = lows.filter((low) => compareBytes(low, from) > 0 && beforeBound(low, end));
  const starts = [from, ...within.toSorted(compareBytes)];
  return starts.filter((start, index) => index === 0 || compareBytes(start, starts[index - 1]!) > 0);
}

/** The records of all layers between two starts. */
function joinedPage(
  layers: readonly (readonly OwnedRow[])[],
  { engine, leaf, positionOf }: LeafRange,
  part: Range,
): Page | DamagedStretch {
  const pages: Page[][] = [];
  for (const rows of layers) {
    const row = rows[rowBefore(rows, 0, rows.length, part.from)];
    if (row === undefined) continue;
    const page = open(engine, leaf, row);
    if ('error' in page) return page;
    pages.push([sliceWithin(page, part, positionOf)]);
  }
  return mergeLayers(pages, positionOf);
}

function sliceWithin(page: Page, part: Range, positionOf: PositionOf): Page {
  const { first, end } = indexesIn(page, part, positionOf);
  return first === 0 && end === recordCount(page) ? page : slicePage(page, first, end);
}

function open(engine: Engine, leaf: Snapshot, { ref, low, high }: OwnedRow): Page | DamagedStretch {
  try {
    return pageOf(leaf, ref, engine.table);
  } catch (error) {
    if (error instanceof StoreError) return { error, low, high };
    throw error;
  }
}
