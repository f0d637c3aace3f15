// A page on its way to another node, or another slot: its content stays, its address is new.
import { chunksOf } from '../contract/driver.ts';
import { moveSealed, type PageAddress, type SealedPage } from '../format/envelope.ts';
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
  const moved = readdress(from, ref, addressOf(node, slot, number), rules.table);
  if (moved === undefined) {
    return sealPage(pageOf(from, ref, rules.table), node, { low: ref.low, slot, number }, rules);
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

/** Undefined if memory lacks the bytes. Throws `corrupt`, and forgets them, if not the page's. */
function readdress(from: Snapshot, ref: PageRef, address: PageAddress, table: string): SealedPage | undefined {
  if (ref.content.sealed === undefined) return undefined;
  try {
    return moveSealed(ref.content.sealed, ref.crc, address);
  } catch (error) {
    peekPage(from, ref, table);
    throw error;
  }
}
