// The pages of one leaf for a scan: its layers joined, up to the first damaged page.
import { layersOf, type OwnedRow, type Range, rowsIn } from '../container/layers.ts';
import { mergeLayers, mergePages } from '../container/merge.ts';
import { pageOf, type Snapshot } from '../container/snapshot.ts';
import { StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { lowerBound, type Page, recordCount, slicePage } from '../format/page.ts';
import { beforeBound, type PositionOf, type Position, type UpperBound } from '../format/position.ts';

/** A damaged page: the records from `low` to `high` cannot be known. */
export interface DamagedStretch {
  readonly error: StoreError;
  readonly low: Position;
  readonly high: UpperBound;
}

/** The positions of a leaf in [from, end). Its pages must be in memory. */
export interface LeafRange extends Range {
  readonly engine: Engine;
  readonly leaf: Snapshot;
  readonly positionOf: PositionOf;
}

/** Gives the pages that hold a range, in order, and last the first damaged stretch. */
export function* pagesIn(range: LeafRange): Generator<Page | DamagedStretch> {
  const { cache } = range.engine;
  try {
    yield* joinedPages(range);
  } finally {
    // Offered again, as expanded pages take more memory than the cache counted.
    const held = cache.get(range.leaf.id);
    if (held !== undefined) cache.offer(held);
  }
}

/** Joins the upper layers first, as they are small, and lays them over the base's pages. */
function* joinedPages(range: LeafRange): Generator<Page | DamagedStretch> {
  const { engine, leaf, positionOf } = range;
  const [base = [], ...above] = layersOf(leaf.header).map((refs) => rowsIn(refs, leaf.header.high, range));
  const { newer, damaged } = openTogether(above, range);
  const upToDamage = (page: Page): Page =>
    damaged === undefined ? page : slicePage(page, 0, lowerBound(page, damaged.low, positionOf));
  let next = 0;
  for (const row of base) {
    if (!beforeBound(row.low, damaged?.low)) break;
    const page = open(engine, leaf, row);
    if ('error' in page) {
      yield page;
      return;
    }
    const end = row.high === undefined ? recordCount(newer) : lowerBound(newer, row.high, positionOf, next);
    yield upToDamage(mergePages(page, newer, positionOf, { first: next, end }));
    next = end;
  }
  // A split may have left nothing of the base.
  if (base.length === 0) yield upToDamage(newer);
  if (damaged !== undefined) yield damaged;
}

/** Joins the pages of the upper layers that begin before the first damage in them. */
function openTogether(
  layers: readonly (readonly OwnedRow[])[],
  { engine, leaf, positionOf }: LeafRange,
): { readonly newer: Page; readonly damaged: DamagedStretch | undefined } {
  const opened = layers.map((rows) => rows.map((row) => ({ low: row.low, page: open(engine, leaf, row) })));
  let damaged: DamagedStretch | undefined;
  for (const { page } of opened.flat()) if ('error' in page && beforeBound(page.low, damaged?.low)) damaged = page;
  const intact = opened.map((layer) =>
    layer.flatMap(({ low, page }) => ('error' in page || !beforeBound(low, damaged?.low) ? [] : [page])),
  );
  return { newer: mergeLayers(intact, positionOf), damaged };
}

function open(engine: Engine, leaf: Snapshot, { ref, low, high }: OwnedRow): Page | DamagedStretch {
  try {
    return pageOf(leaf, ref, engine.table);
  } catch (error) {
    if (error instanceof StoreError) return { error, low, high };
    throw error;
  }
}
