// Checks one container by itself: every page can be read, and every record lies where it belongs.
import { StoreError } from '../contract/errors.ts';
import { compareBytes } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { type Page, recordAt, recordCount } from '../format/page.ts';
import { decodeKey, type Position, type PositionOf, positionsOf, type UpperBound, within } from '../format/position.ts';
import { isExpired, isTombstone, type StoredRecord } from '../format/record.ts';
import { layersOf } from './layers.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

/** A fault within one container. Bounds are those of the stretch that it concerns. */
export interface Fault {
  readonly kind: 'damaged' | 'missing' | 'misplaced';
  readonly slot: number | undefined;
  readonly key: string | undefined;
  readonly from: Position;
  readonly to: UpperBound;
  readonly message: string;
}

/** Throws what is wrong with the value of a record; the caller knows codecs. */
export type CheckValue = (record: StoredRecord) => void;

/** The faults of a container that was read whole. Its pages stay expanded for `recordsIn`. */
export function* faultsIn(snapshot: Snapshot, table: string, checkValue: CheckValue): Generator<Fault> {
  const { header } = snapshot;
  const positionOf = positionsOf(header.order, header.level);
  for (const layer of layersOf(header))
    for (const [row, ref] of layer.entries()) {
      const stretch = { from: ref.low, to: layer[row + 1]?.low ?? header.high };
      if (!isInOrder(stretch, row === 0 ? header.low : undefined)) yield outOfOrder(ref.slot, stretch);
      const page = openOrFault(snapshot, ref, table, stretch);
      if ('kind' in page) yield page;
      else yield* faultsOfRecords({ header, ref, page, positionOf, checkValue }, stretch);
    }
}

/** Counts records neither deleted nor expired, and none of pages that cannot be read. */
export function recordsIn(snapshot: Snapshot, table: string, nowMs: number): number {
  const decided = new Set<string>();
  let count = 0;
  for (const layer of layersOf(snapshot.header).toReversed())
    for (const ref of layer)
      for (const record of recordsOf(snapshot, ref, table)) {
        const name = Buffer.from(record.key).toString('latin1');
        if (decided.has(name)) continue;
        decided.add(name);
        if (!isTombstone(record) && !isExpired(record, nowMs)) count += 1;
      }
  return count;
}

function recordsOf(snapshot: Snapshot, ref: PageRef, table: string): StoredRecord[] {
  const page = openOrFault(snapshot, ref, table, { from: ref.low, to: undefined });
  return 'kind' in page ? [] : Array.from({ length: recordCount(page) }, (_, index) => recordAt(page, index));
}

interface Stretch {
  readonly from: Position;
  readonly to: UpperBound;
}

function openOrFault(snapshot: Snapshot, ref: PageRef, table: string, stretch: Stretch): Page | Fault {
  const about = { slot: ref.slot, key: undefined, ...stretch };
  if (!ref.content.isKnown) return { kind: 'missing', ...about, message: `page ${ref.slot} is missing` };
  try {
    const page = pageOf(snapshot, ref, table);
    if (recordCount(page) === ref.records) return page;
    const message = `page ${ref.slot} holds ${recordCount(page)} records, its header says ${ref.records}`;
    return { kind: 'misplaced', ...about, message };
  } catch (error) {
    if (error instanceof StoreError) return { kind: 'damaged', ...about, message: error.message };
    throw error;
  }
}

/** The first page of a layer begins where its node does, and each ends above where it begins. */
function isInOrder({ from, to }: Stretch, low: Position | undefined): boolean {
  if (low !== undefined && compareBytes(from, low) !== 0) return false;
  return to === undefined || compareBytes(from, to) < 0;
}

function outOfOrder(slot: number, stretch: Stretch): Fault {
  return { kind: 'misplaced', slot, key: undefined, ...stretch, message: `page ${slot} is out of order` };
}

interface CheckedPage {
  readonly header: Header;
  readonly ref: PageRef;
  readonly page: Page;
  readonly positionOf: PositionOf;
  readonly checkValue: CheckValue;
}

/** Checks that positions rise within the page's stretch, and that values can be decoded. */
function* faultsOfRecords(
  { header, ref, page, positionOf, checkValue }: CheckedPage,
  stretch: Stretch,
): Generator<Fault> {
  let before: Position | undefined;
  for (let index = 0; index < recordCount(page); index += 1) {
    const record = recordAt(page, index);
    const position = positionOf(record.key);
    const about = { slot: ref.slot, key: header.level === 0 ? decodeKey(record.key) : undefined };
    const misplaced = misplacement(position, before, stretch);
    if (misplaced !== undefined) yield { kind: 'misplaced', ...about, ...stretch, message: misplaced };
    const fault = header.level === 0 ? valueFault(record, checkValue) : childFault(record);
    if (fault !== undefined) yield { kind: 'damaged', ...about, from: position, to: position, message: fault };
    before = position;
  }
}

function misplacement(position: Position, before: Position | undefined, { from, to }: Stretch): string | undefined {
  if (before !== undefined && compareBytes(before, position) >= 0) return 'a record does not follow the one before it';
  return within(position, from, to) ? undefined : 'a record lies outside the bounds of its page';
}

function valueFault(record: StoredRecord, checkValue: CheckValue): string | undefined {
  try {
    if (!isTombstone(record)) checkValue(record);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function childFault({ value }: StoredRecord): string | undefined {
  return value.length === 8 ? undefined : 'a branch names a child by something else than 8 bytes';
}
