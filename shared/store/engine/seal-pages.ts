// Sealing the new pages of an evaluation: they are compressed, here or on another thread, and put into their envelopes.
import type { Evaluation, UnsealedEvaluation, UnsealedPage } from '../container/evaluate.ts';
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
  const newPages = unsealed.pages.filter(isUnsealed);
  const compressed = await compressedBodies(newPages, sealing);
  const sealed = new Map(
    newPages.map((one): [UnsealedPage, PageRef] => {
      const ref = sealCompressed(one, compressed.get(one) ?? compress(one.page.body, 'none'), node, rules.limits);
      return [one, withChunksBefore(ref, one.chunksBefore)];
    }),
  );
  return {
    ...unsealed,
    pages: unsealed.pages.map((row) => (isUnsealed(row) ? sealed.get(row)! : row)),
    written: newPages.map((one) => ({ ref: sealed.get(one)!, chunksBefore: one.chunksBefore })),
  };
}

/** The compressed bytes of every page that is large enough to be compressed. */
async function compressedBodies(
  pages: readonly UnsealedPage[],
  { rules, compressor, deadlines }: Sealing,
): Promise<Map<UnsealedPage, Compressed>> {
  const large = pages.filter(({ page }) => compressionOf(page, rules) !== 'none');
  const bodies = large.map(({ page }) => page.body);
  const work = compressor.compress(bodies, rules.compression);
  const answer = work instanceof Promise ? await deadlines.within(COMPRESSION_TIMEOUT_MS, work) : work;
  // It would keep every later commit waiting.
  if (answer === undefined) void compressor.close();
  const compressed = answer ?? compressHere(bodies, rules.compression);
  return new Map(large.map((one, index) => [one, compressed[index]!]));
}

function isUnsealed(row: PageRef | UnsealedPage): row is UnsealedPage {
  return 'page' in row;
}
