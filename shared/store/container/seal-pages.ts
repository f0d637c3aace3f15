// Seals the new pages of an evaluation: compresses them and puts them into their envelopes.
import { fingerprintsOf } from '../format/fingerprints.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { recordCount } from '../format/page-body.ts';
import type { Evaluation, UnsealedEvaluation, UnsealedPage, WrittenPage } from './evaluate.ts';
import { type PageRules, sealPage, withChunksBefore } from './seal-page.ts';

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
