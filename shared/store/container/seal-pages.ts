// Sealing the new pages of an evaluation: they are compressed and put into their envelopes.
import { fingerprintsOf } from '../format/fingerprints.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { recordCount } from '../format/page-body.ts';
import type { Evaluation, UnsealedEvaluation, UnsealedPage, WrittenPage } from './evaluate.ts';
import { layerCompression, type PageRules, sealPage, withChunksBefore } from './seal-page.ts';

/** Records of a layer, at most, whose fingerprints the header holds: a larger one is read. */
const FINGERPRINTS_MAX = 128;

/** The evaluation with its new pages sealed for `node`, the node it was made of. */
export function sealPages(unsealed: UnsealedEvaluation, node: Header, rules: PageRules): Evaluation {
  const { kept, layers } = unsealed;
  const pageRules =
    layers.length === 0 ? rules : { ...rules, compression: layerCompression(newBytes(unsealed), rules) };
  const fingerprintsFrom = firstFingerprinted(unsealed);
  // Most rows stay as they are: they are copied without a look at them.
  const pages = unsealed.pages.slice();
  const written: WrittenPage[] = [];
  for (let row = kept; row < pages.length; row += 1) {
    const one = pages[row]!;
    if (!isUnsealed(one)) continue;
    const sealed = withChunksBefore(sealPage(one.page, node, one, pageRules), one.chunksBefore);
    const ref = row >= fingerprintsFrom ? { ...sealed, fingerprints: fingerprintsOf(one.page, node.order) } : sealed;
    pages[row] = ref;
    written.push({ ref, chunksBefore: one.chunksBefore });
  }
  return { ...unsealed, pages: pages as PageRef[], written };
}

/** The first row of the highest layer, if that is small and no base; a clear writes others, too. */
function firstFingerprinted({ pages, layers }: UnsealedEvaluation): number {
  const top = pages.length - (layers.at(-1) ?? 0);
  const records = pages
    .slice(top)
    .reduce((sum, one) => sum + (isUnsealed(one) ? recordCount(one.page) : one.records), 0);
  return records > FINGERPRINTS_MAX ? pages.length : top;
}

function newBytes({ pages, kept }: UnsealedEvaluation): number {
  return pages.slice(kept).reduce((sum, one) => sum + (isUnsealed(one) ? one.page.body.length : 0), 0);
}

function isUnsealed(row: PageRef | UnsealedPage): row is UnsealedPage {
  return 'page' in row;
}
