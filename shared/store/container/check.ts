// Checks one container by itself: whether its pages can be read, and its records are in place.
import { StoreError } from '../contract/errors.ts';
import { asName, compareBytes, id64, ID64_BYTES } from '../format/bytes.ts';
import { commitIdAt, type Header } from '../format/header.ts';
import {
  fingerprintsOf,
  isExpired,
  isTombstone,
  type Page,
  recordCount,
  recordsOf,
  type StoredRecord,
} from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound, decodeKey, type Position, positionsOf, type UpperBound, within } from '../format/position.ts';
import { layersOf } from './layers.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

export interface Stretch {
  readonly from: Position;
  readonly to: UpperBound;
}

/** A fault within one container, and the stretch of positions that it concerns. */
export interface Fault extends Stretch {
  readonly kind: 'damaged' | 'missing' | 'misplaced';
  readonly slot: number | undefined;
  readonly key: string | undefined;
  readonly message: string;
}

/** Throws if the value of a record cannot be decoded. The caller passes it, as it knows codecs. */
export type CheckValue = (record: StoredRecord) => void;

/** The faults of a container that was read whole. Its pages stay expanded, for `liveRecordsIn`. */
export function* faultsIn(snapshot: Snapshot, table: string, checkValue: CheckValue): Generator<Fault> {
  const { header } = snapshot;
  if (!isCommitKnown(snapshot)) {
    const about = { slot: undefined, key: undefined, from: header.low, to: header.high };
    yield { kind: 'damaged', ...about, message: 'its commit id is not the last one of its header' };
  }
  for (const layer of layersOf(header))
    for (const [row, ref] of layer.entries()) {
      const stretch = { from: ref.low, to: layer[row + 1]?.low ?? header.high };
      const about = { slot: ref.slot, key: undefined, ...stretch };
      // A layer begins at the low of its node.
      const isMoved = row === 0 && compareBytes(ref.low, header.low) !== 0;
      if (isMoved || !beforeBound(ref.low, stretch.to))
        yield { kind: 'misplaced', ...about, message: `page ${ref.slot} is out of order` };
      const page = openOrFault(snapshot, ref, table);
      if ('kind' in page) yield { ...about, ...page };
      else for (const fault of faultsOfRecords(page, header, stretch, checkValue)) yield { ...fault, slot: ref.slot };
    }
}

/** Stands for a commit id that is missing or has the wrong length. */
export const NO_COMMIT = Buffer.alloc(ID64_BYTES);

/** Whether the commit id is the last one of the header. The header of a new node has none. */
export function isCommitKnown({ header, lastCommit }: Snapshot): boolean {
  return lastCommit !== id64(NO_COMMIT) && lastCommit === (commitIdAt(header, header.commitCount) ?? lastCommit);
}

/** Counts the records that are neither deleted nor expired, as far as pages can be read. */
export function liveRecordsIn(snapshot: Snapshot, table: string, nowMs: number): number {
  const decided = new Set<string>();
  let count = 0;
  for (const ref of layersOf(snapshot.header).toReversed().flat()) {
    const page = openOrFault(snapshot, ref, table);
    for (const record of 'kind' in page ? [] : recordsOf(page)) {
      const name = asName(record.key);
      if (decided.has(name)) continue;
      decided.add(name);
      if (!isTombstone(record) && !isExpired(record, nowMs)) count += 1;
    }
  }
  return count;
}

function openOrFault(snapshot: Snapshot, ref: PageRef, table: string): Page | Pick<Fault, 'kind' | 'message'> {
  if (!ref.content.isKnown) return { kind: 'missing', message: `page ${ref.slot} is missing` };
  try {
    const page = pageOf(snapshot, ref, table);
    if (hidesRecord(ref, page, snapshot.header))
      return { kind: 'misplaced', message: `page ${ref.slot} holds a record that its header hides` };
    if (recordCount(page) === ref.records) return page;
    const message = `page ${ref.slot} holds ${recordCount(page)} records, its header says ${ref.records}`;
    return { kind: 'misplaced', message };
  } catch (error) {
    if (error instanceof StoreError) return { kind: 'damaged', message: error.message };
    throw error;
  }
}

/** Whether a record's fingerprint is not among the row's. */
function hidesRecord({ fingerprints }: PageRef, page: Page, { order }: Header): boolean {
  return fingerprints !== undefined && fingerprintsOf(page, order).some((one) => !fingerprints.includes(one));
}

/** Checks that the positions ascend within the page's stretch, and that values can be decoded. */
function* faultsOfRecords(
  page: Page,
  { order, level }: Header,
  stretch: Stretch,
  checkValue: CheckValue,
): Generator<Omit<Fault, 'slot'>> {
  const positionOf = positionsOf(order, level);
  let before: Position | undefined;
  for (const record of recordsOf(page)) {
    const position = positionOf(record.key);
    const key = level === 0 ? decodeKey(record.key) : undefined;
    if (before !== undefined && compareBytes(before, position) >= 0)
      yield { kind: 'misplaced', key, ...stretch, message: 'a record does not follow the one before it' };
    else if (!within(position, stretch.from, stretch.to))
      yield { kind: 'misplaced', key, ...stretch, message: 'a record lies outside the bounds of its page' };
    const fault = level === 0 ? valueFault(record, checkValue) : childFault(record);
    if (fault !== undefined) yield { kind: 'damaged', key, from: position, to: position, message: fault };
    before = position;
  }
}

/** Why the value of a record cannot be decoded; undefined if it can. */
export function valueFault(record: StoredRecord, checkValue: CheckValue): string | undefined {
  try {
    if (!isTombstone(record)) checkValue(record);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function childFault({ value }: StoredRecord): string | undefined {
  return value.length === ID64_BYTES ? undefined : 'a branch names a child by something else than 8 bytes';
}
