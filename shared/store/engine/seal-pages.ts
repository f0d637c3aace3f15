// Sealing the new pages of an evaluation: they are compressed, here or on another thread, and put into their envelopes.
import type { Evaluation, UnsealedEvaluation, UnsealedPage, WrittenPage } from '../container/evaluate.ts';
import {
  compressionOf,
  layerCompression,
  type PageRules,
  sealCompressed,
  withChunksBefore,
} from '../container/seal-page.ts';
import type { Compressed, Compressor } from '../contract/runtime.ts';
import { compress, compressHere } from '../format/compression.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Deadlines } from '../io/deadline.ts';

/** Compressing the pages of one commit takes a fraction of a second. A thread that needs longer hangs: they are compressed on the spot then. */
const COMPRESSION_TIMEOUT_MS = 5_000;

export interface Sealing {
  readonly rules: PageRules;
  readonly compressor: Compressor;
  readonly deadlines: Pick<Deadlines, 'within'>;
}

/** The evaluation with its new pages sealed for `node`, the node it was made of. */
export async function sealPages(unsealed: UnsealedEvaluation, node: Header, sealing: Sealing): Promise<Evaluation> {
  const { kept, layers } = unsealed;
  // Most rows stay as they are: they are copied without a look at them.
  const pages = unsealed.pages.slice();
  const newPages: UnsealedPage[] = [];
  for (let row = kept; row < pages.length; row += 1) {
    const one = pages[row]!;
    if (isUnsealed(one)) newPages.push(one);
  }
  const compressed = await compressedBodies(newPages, layers.length > 0, sealing);
  const written: WrittenPage[] = [];
  for (let row = kept; row < pages.length; row += 1) {
    const one = pages[row]!;
    if (!isUnsealed(one)) continue;
    const sealed = sealCompressed(one, compressed[written.length]!, node, sealing.rules.limits);
    const ref = withChunksBefore(sealed, one.chunksBefore);
    pages[row] = ref;
    written.push({ ref, chunksBefore: one.chunksBefore });
  }
  return { ...unsealed, pages: pages as PageRef[], written };
}

/** The stored bytes of every page, in order: compressed where it, and the upper layer that it may be of, is large enough. */
async function compressedBodies(
  pages: readonly UnsealedPage[],
  isUpperLayer: boolean,
  { rules, compressor, deadlines }: Sealing,
): Promise<readonly Compressed[]> {
  const compression = isUpperLayer ? layerCompression(bytesOf(pages), rules) : rules.compression;
  const layerRules = { ...rules, compression };
  const isLarge = pages.map(({ page }) => compressionOf(page, layerRules) !== 'none');
  const bodies = pages.filter((_, index) => isLarge[index]).map(({ page }) => page.body);
  const work = compressor.compress(bodies, compression);
  const answer = work instanceof Promise ? await deadlines.within(COMPRESSION_TIMEOUT_MS, work) : work;
  // It would keep every later commit waiting.
  if (answer === undefined) void compressor.close();
  const compressed = answer ?? compressHere(bodies, compression);
  let next = 0;
  return pages.map(({ page }, index) => (isLarge[index] === true ? compressed[next++]! : compress(page.body, 'none')));
}

function bytesOf(pages: readonly UnsealedPage[]): number {
  return pages.reduce((bytes, { page }) => bytes + page.body.length, 0);
}

function isUnsealed(row: PageRef | UnsealedPage): row is UnsealedPage {
  return 'page' in row;
}
