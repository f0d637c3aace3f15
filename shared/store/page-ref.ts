// From a page to its row in the page table: sealed for its place, measured, with its bytes at hand.
import type { Compression } from './api.ts';
import { placeOf } from './container.ts';
import { chunksOf, type DriverLimits } from './driver.ts';
import type { Header, PageRef } from './header.ts';
import { type Page, recordCount, sealPage } from './page.ts';
import { PageContent } from './page-content.ts';
import type { Position } from './position.ts';

/** A page below this share of the usual size is not compressed: the call, 20 to 60 µs, would save a third of little. */
const COMPRESSED_SHARE = 1 / 8;

/** What holds for all pages that a table's engine writes. */
export interface PageRules {
  readonly table: string;
  readonly limits: DriverLimits;
  readonly compression: Compression;
  /** Pages are cut to about this many bytes, expanded. */
  readonly pageBytes: number;
}

/** Where a page goes. */
export interface PageSeat {
  readonly low: Position;
  readonly slot: number;
  /** Fresh: never used before in this container. */
  readonly number: number;
}

/** Seals a page of `node`. `chunksBefore`: the most chunks the slot took since the entity's last insert or replace. */
export function sealRef(page: Page, node: Header, seat: PageSeat, rules: PageRules, chunksBefore = 0): PageRef {
  const compression = page.body.length < COMPRESSED_SHARE * rules.pageBytes ? 'none' : rules.compression;
  const sealed = sealPage(page, placeOf(node, seat.slot, seat.number), compression);
  return {
    ...seat,
    records: recordCount(page),
    sealedBytes: sealed.bytes.length,
    crc: sealed.crc,
    compression: sealed.compression,
    chunksMost: Math.max(chunksBefore, chunksOf(sealed.bytes.length, rules.limits)),
    content: new PageContent(sealed.bytes, page),
  };
}
