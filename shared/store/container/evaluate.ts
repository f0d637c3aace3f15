// What a group of changes makes of a container: pure, from one snapshot to the page table of the next, with a verdict for each change.
// Nothing here knows how, or whether, the result is written.
import { chunksOf } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { compareBytes } from '../format/bytes.ts';
import { HEADER_FIXED_BYTES } from '../format/header.ts';
import { asDeadSlot, type DeadSlot, type PageRef } from '../format/page-table.ts';
import {
  cutPage,
  EMPTY_PAGE,
  keyAt,
  lowBetween,
  lowerBound,
  type Page,
  pageFrom,
  recordCount,
} from '../format/page.ts';
import { type PositionOf, positionsOf, type Position } from '../format/position.ts';
import { isExpired, type StoredRecord, tombstoneOf } from '../format/record.ts';
import type { Change, Verdict } from './change.ts';
import { PURGE_AFTER_MS, compactionTarget } from './compaction.ts';
import { decideSafely, RECORD_COST_BYTES, recordOf } from './decide.ts';
import { findRecord, layersOf, rowBefore, startingAt } from './layers.ts';
import { mergeLayers, mergePages, withoutDead } from './merge.ts';
import type { PageRules, NewPageRow } from './seal-page.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

export interface EvaluationRules extends PageRules {
  /** The attempt's time: expiry is judged by it alone. */
  readonly nowMs: number;
  /** Whether all layers are merged into the base: for a split that finds no cut, or may not be needed then. */
  readonly mergesAll: boolean;
}

export interface WrittenPage {
  readonly ref: PageRef;
  readonly chunksBefore: number;
}

/** A new page, before it is sealed. */
export interface UnsealedPage extends NewPageRow {
  readonly page: Page;
  /** The most chunks its slot took since the entity's last insert or replace. */
  readonly chunksBefore: number;
}

/** What the changes make of the container, its new pages not sealed yet. */
export interface UnsealedEvaluation {
  readonly pages: readonly (PageRef | UnsealedPage)[];
  readonly layers: readonly number[];
  /** Slots of the snapshot whose page is gone and that nothing else took. */
  readonly dropped: readonly DeadSlot[];
  readonly deadSlots: readonly DeadSlot[];
  readonly nextNumber: number;
  /** One for each change, in the order given. */
  readonly verdicts: readonly Verdict[];
  /** Changes that had an effect. */
  readonly appliedCount: number;
}

export interface Evaluation extends UnsealedEvaluation {
  readonly pages: readonly PageRef[];
  /** The rows of `pages` whose bytes are new, and the most chunks their slots took before. */
  readonly written: readonly WrittenPage[];
}

/**
 * Applies the changes, which are given in order of position, equal positions in the order they take effect. Their positions must lie within
 * the container, and no page may be unread (see compaction.ts); where everything is merged, none at all.
 */
export function evaluate(snapshot: Snapshot, changes: readonly Change[], rules: EvaluationRules): UnsealedEvaluation {
  return new Evaluator(snapshot, rules).run(changes);
}

type Row = PageRef | UnsealedPage;

interface FreeSlot extends DeadSlot {
  /** Whether a page of the snapshot lies in it. */
  readonly isTaken: boolean;
}

class Evaluator {
  readonly #snapshot: Snapshot;
  readonly #rules: EvaluationRules;
  readonly #place: PositionOf;
  readonly #verdicts: Verdict[] = [];
  readonly #freeSlots: FreeSlot[];
  #nextSlot: number | undefined;
  #nextNumber: number;
  #appliedCount = 0;

  constructor(snapshot: Snapshot, rules: EvaluationRules) {
    const { header } = snapshot;
    this.#snapshot = snapshot;
    this.#rules = rules;
    this.#place = positionsOf(header.order, header.level);
    this.#freeSlots = header.deadSlots.map((slot) => ({ ...slot, isTaken: false }));
    this.#nextNumber = header.nextNumber;
  }

  run(changes: readonly Change[]): UnsealedEvaluation {
    const { header } = this.#snapshot;
    const delta = pageFrom(this.#recordsOf(changes));
    const { mergesAll } = this.#rules;
    const isUnchanged = recordCount(delta) === 0 && !(mergesAll && header.layers.length > 0);
    const content = isUnchanged
      ? { pages: header.pages, layers: header.layers }
      : this.#write(delta, mergesAll ? 0 : compactionTarget(header, changes));
    const dropped = this.#freeSlots.filter((slot) => slot.isTaken);
    return {
      ...content,
      dropped: dropped.map(asDeadSlot),
      deadSlots: this.#freeSlots.map(asDeadSlot),
      nextNumber: this.#nextNumber,
      verdicts: this.#verdicts,
      appliedCount: this.#appliedCount,
    };
  }

  /** The records that the changes leave behind, in order of position: tombstones where one may have been before. */
  #recordsOf(changes: readonly Change[]): StoredRecord[] {
    const records: StoredRecord[] = [];
    for (let first = 0; first < changes.length;) {
      const { position } = changes[first]!;
      let end = first + 1;
      while (end < changes.length && compareBytes(changes[end]!.position, position) === 0) end += 1;
      const record = this.#decideAll(changes, first, end);
      if (record !== undefined) records.push(record);
      first = end;
    }
    return records;
  }

  /** What the changes of one position, from `first` to `end`, make of its record; undefined if they leave it as it is. */
  #decideAll(changes: readonly Change[], first: number, end: number): StoredRecord | undefined {
    const { incarnation } = this.#snapshot.header;
    const stored = this.#storedRecord(changes, first, end);
    let record = stored !== undefined && !isExpired(stored, this.#rules.nowMs) ? stored : undefined;
    let version: number | undefined;
    for (let index = first; index < end; index += 1) {
      const change = changes[index]!;
      const decision = decideSafely(change, record, incarnation);
      if (decision.kind === 'none') {
        this.#verdicts[index] =
          'error' in decision ? { kind: 'failed', error: decision.error } : { kind: 'unchanged', incarnation, record };
        continue;
      }
      if (decision.kind === 'write' && !this.#fitsAlone(change, decision.value)) {
        this.#verdicts[index] = { kind: 'failed', error: this.#tooLarge() };
        continue;
      }
      version = this.#nextNumber++;
      record = decision.kind === 'remove' ? undefined : recordOf(change.key, version, decision);
      this.#appliedCount += 1;
      this.#verdicts[index] = { kind: 'applied', incarnation, version, record };
    }
    if (version === undefined) return undefined;
    // A record put and deleted again in one group leaves nothing.
    return record ?? (stored === undefined ? undefined : tombstoneOf(stored.key, version));
  }

  /** What the changes begin with; undefined also where none of them would look at it. */
  #storedRecord(changes: readonly Change[], first: number, end: number): StoredRecord | undefined {
    for (let index = first; index < end; index += 1) {
      const { isBlind, position, key } = changes[index]!;
      if (!isBlind) return findRecord(this.#snapshot, position, key, this.#rules.table);
    }
    return undefined;
  }

  /** Rule 7: a record that no container could hold must not fail the others of its group. */
  #fitsAlone(change: Change, value: Uint8Array): boolean {
    const { limits } = this.#rules;
    const bytes = change.key.length + value.length + RECORD_COST_BYTES;
    const cost = HEADER_FIXED_BYTES + bytes + (2 + chunksOf(bytes, limits)) * limits.chunkOverheadBytes;
    return limits.entityOverheadBytes + cost <= limits.entityBytesMax;
  }

  #tooLarge(): StoreError {
    const { table, limits } = this.#rules;
    const message = `the record does not fit into a container of ${limits.provider}: make it smaller`;
    return new StoreError('too_large', message, { table, container: this.#snapshot.id });
  }

  /** Writes the records into the layer `target`, merged with the layers above it; those below stay as they are. */
  #write(delta: Page, target: number): Pick<UnsealedEvaluation, 'pages' | 'layers'> {
    const { header } = this.#snapshot;
    const layers = layersOf(header);
    const merged = layers.slice(target + 1);
    for (const { slot, chunksMost } of merged.flat()) this.#freeSlots.push({ slot, chunksMost, isTaken: true });
    const above = merged.map((rows) => rows.map((ref) => this.#pageOf(ref)));
    const rows = this.#rewrite(layers[target] ?? [], mergeLayers([...above, [delta]], this.#place), target === 0);
    const replaced = layers.slice(target).reduce((sum, { length }) => sum + length, 0);
    return {
      pages: [...header.pages.slice(0, header.pages.length - replaced), ...rows],
      layers: target === 0 ? [] : [...header.layers.slice(0, target - 1), rows.length],
    };
  }

  /** The rows of a layer with the records of `newer` in them. */
  #rewrite(rows: readonly PageRef[], newer: Page, isBase: boolean): Row[] {
    const rewritten: Row[] = [];
    let taken = 0;
    for (let first = 0; first < recordCount(newer);) {
      const row = Math.max(0, rowBefore(rows, taken, rows.length, this.#place(keyAt(newer, first))));
      for (const ref of rows.slice(taken, row)) rewritten.push(ref);
      const end = rows[row + 1]?.low;
      const next = end === undefined ? recordCount(newer) : lowerBound(newer, end, this.#place, first);
      const ref = rows[row];
      const page = mergePages(ref === undefined ? EMPTY_PAGE : this.#pageOf(ref), newer, this.#place, first, next);
      rewritten.push(...this.#replacePage(ref, isBase ? this.#purged(page) : page));
      taken = row + 1;
      first = next;
    }
    return startingAt(rewritten.concat(rows.slice(taken)), this.#snapshot.header.low);
  }

  #purged(page: Page): Page {
    return withoutDead(page, this.#rules.nowMs - PURGE_AFTER_MS);
  }

  #replacePage(ref: PageRef | undefined, page: Page): UnsealedPage[] {
    if (recordCount(page) === 0) {
      if (ref !== undefined) this.#freeSlots.push({ slot: ref.slot, chunksMost: ref.chunksMost, isTaken: true });
      return [];
    }
    let before: Page | undefined;
    return cutPage(page, this.#rules.pageBytes).map((piece) => {
      const low = before === undefined ? (ref?.low ?? this.#snapshot.header.low) : this.#separator(before, piece);
      const slot = before === undefined && ref !== undefined ? ref : this.#takeSlot();
      before = piece;
      return { low, slot: slot.slot, number: this.#nextNumber++, page: piece, chunksBefore: slot.chunksMost };
    });
  }

  #separator(left: Page, right: Page): Position {
    return lowBetween(left, right, this.#snapshot.header.level, this.#place);
  }

  #takeSlot(): DeadSlot {
    const free = this.#freeSlots.pop();
    if (free !== undefined) return free;
    const { pages, deadSlots } = this.#snapshot.header;
    this.#nextSlot ??= 1 + [...pages, ...deadSlots].reduce((most, { slot }) => Math.max(most, slot), -1);
    return { slot: this.#nextSlot++, chunksMost: 0 };
  }

  #pageOf(ref: PageRef): Page {
    return pageOf(this.#snapshot, ref, this.#rules.table);
  }
}
