// A page on its way to another node, or another slot: its content stays, its address is new.
import { chunksOf } from '../contract/driver.ts';
import { moveSealed, type SealedPage } from '../format/envelope.ts';
import type { Header } from '../format/header.ts';
import { PageContent } from '../format/page-content.ts';
import type { PageRef } from '../format/page-table.ts';
import { type NewPageRow, type PageRules, sealPage } from './seal-page.ts';
import { addressOf, pageOf, peekPage, type Snapshot } from './snapshot.ts';

/** The new place of a page: a slot of a node, under a number that is fresh there (rule 13). */
interface Destination extends Omit<NewPageRow, 'low'> {
  readonly node: Header;
}

/** In another envelope, or sealed anew. The page must be known. Throws `corrupt` if damaged. */
export function movePage(from: Snapshot, ref: PageRef, { node, slot, number }: Destination, rules: PageRules): PageRef {
  const { sealed } = ref.content;
  if (sealed === undefined)
    return sealPage(pageOf(from, ref, rules.table), node, { low: ref.low, slot, number }, rules);
  let moved: SealedPage;
  try {
    moved = moveSealed(sealed, ref.crc, addressOf(node, slot, number));
  } catch (error) {
    // Forgets the bytes, as they are not the page's, and throws as a reader of it would.
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
