// Sealing the new pages of an evaluation: they are compressed, here or on another thread, and put into their envelopes.
import type { Evaluation, UnsealedEvaluation, UnsealedPage, WrittenPage } from '../container/evaluate.ts';
import { compressionOf, type PageRules, sealCompressed, withChunksBefore } from '../container/seal-page.ts';
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
  const { rules } = sealing;
  // Most rows stay as they are: they are copied without a look at them.
  const rewritten = unsealed.pages.slice(unsealed.kept);
  const newPages = rewritten.filter(isUnsealed);
  const compressed = await compressedBodies(newPages, sealing);
  const written = newPages.map((one, index): WrittenPage => {
    const ref = sealCompressed(one, compressed[index]!, node, rules.limits);
    return { ref: withChunksBefore(ref, one.chunksBefore), chunksBefore: one.chunksBefore };
  });
  let next = 0;
  const sealed = rewritten.map((row) => (isUnsealed(row) ? written[next++]!.ref : row));
  return { ...unsealed, pages: (unsealed.pages.slice(0, unsealed.kept) as PageRef[]).concat(sealed), written };
}

/** The stored bytes of every page, in order: compressed where it is large enough. */
async function compressedBodies(
  pages: readonly UnsealedPage[],
  { rules, compressor, deadlines }: Sealing,
): Promise<readonly Compressed[]> {
  const isLarge = pages.map(({ page }) => compressionOf(page, rules) !== 'none');
  const bodies = pages.filter((_, index) => isLarge[index]).map(({ page }) => page.body);
  const work = compressor.compress(bodies, rules.compression);
  const answer = work instanceof Promise ? await deadlines.within(COMPRESSION_TIMEOUT_MS, work) : work;
  // It would keep every later commit waiting.
  if (answer === undefined) void compressor.close();
  const compressed = answer ?? compressHere(bodies, rules.compression);
  let next = 0;
  return pages.map(({ page }, index) => (isLarge[index] === true ? compressed[next++]! : compress(page.body, 'none')));
}

function isUnsealed(row: PageRef | UnsealedPage): row is UnsealedPage {
  return 'page' in row;
}
