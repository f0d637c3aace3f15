// What a group of changes makes of a container: pure, from one snapshot to the page table of the next, with a verdict for each change.
// Nothing here knows how, or whether, the result is written.
import type { Change, Verdict } from './change.ts';
import { pageOf, type Snapshot } from './container.ts';
import { chunksOf } from './driver.ts';
import { StoreError } from './errors.ts';
import { type DeadSlot, HEADER_FIXED_BYTES, pageIndexFor, type PageRef } from './header.ts';
import {
  cutPage,
  EMPTY_PAGE,
  type Edit,
  keyAt,
  lowBetween,
  lowerBound,
  type Page,
  recordAt,
  recordCount,
  splice,
  type StoredRecord,
} from './page.ts';
import { type PageRules, sealRef } from './page-ref.ts';
import { beforeBound, type Placer, placerOf, type Position } from './position.ts';
import { compareBytes } from './bytes.ts';

/** Expired records are kept this long, so that clocks a little apart never disagree about what a purge may drop. */
export const PURGE_AFTER_MS = 5 * 60_000;

/** What a record costs beside its key and value when it stands alone: its row, its page's envelope. */
const RECORD_COST_BYTES = 128;

export interface EvaluationRules extends PageRules {
  /** The attempt's time: expiry is judged by it alone. */
  readonly nowMs: number;
}

export interface WrittenPage {
  readonly ref: PageRef;
  readonly chunksBefore: number;
}

export interface Evaluation {
  readonly pages: readonly PageRef[];
  /** The rows of `pages` whose bytes are new, and the most chunks their slots took before. */
  readonly written: readonly WrittenPage[];
  /** Pages of the snapshot that became empty, and whose slots nothing else took. */
  readonly dropped: readonly PageRef[];
  readonly deadSlots: readonly DeadSlot[];
  readonly nextNumber: number;
  /** One for each change, in the order given. */
  readonly verdicts: readonly Verdict[];
  /** Changes that had an effect. */
  readonly appliedCount: number;
}

/** The pages that these changes touch; they must be known before `evaluate`. */
export function pagesTouched(snapshot: Snapshot, changes: readonly Change[]): PageRef[] {
  const touched = new Set<PageRef>();
  for (const change of changes) {
    const ref = snapshot.header.pages[pageIndexFor(snapshot.header, change.position)];
    if (ref !== undefined) touched.add(ref);
  }
  return [...touched];
}

/** Applies the changes, in order for equal keys. Their positions must lie within the container. */
export function evaluate(snapshot: Snapshot, changes: readonly Change[], rules: EvaluationRules): Evaluation {
  return new Evaluator(snapshot, rules).run(changes);
}

interface Numbered {
  readonly change: Change;
  readonly index: number;
}

class Evaluator {
  readonly #snapshot: Snapshot;
  readonly #rules: EvaluationRules;
  readonly #place: Placer;
  readonly #pages: PageRef[] = [];
  readonly #written: WrittenPage[] = [];
  readonly #dropped: PageRef[] = [];
  readonly #verdicts: Verdict[] = [];
  readonly #freeSlots: DeadSlot[];
  #nextSlot: number | undefined;
  #nextNumber: number;
  #appliedCount = 0;

  constructor(snapshot: Snapshot, rules: EvaluationRules) {
    const { header } = snapshot;
    this.#snapshot = snapshot;
    this.#rules = rules;
    this.#place = placerOf(header.order, header.level);
    this.#freeSlots = [...header.deadSlots];
    this.#nextNumber = header.nextNumber;
  }

  run(changes: readonly Change[]): Evaluation {
    const sorted = changes.map((change, index) => ({ change, index }));
    sorted.sort((a, b) => compareBytes(a.change.position, b.change.position));
    const before = this.#snapshot.header.pages;
    let next = 0;
    for (let index = 0; index < Math.max(1, before.length); index += 1) {
      const first = next;
      const end = before[index + 1]?.low;
      while (next < sorted.length && beforeBound(sorted[next]!.change.position, end)) next += 1;
      this.#changePage(before[index], next === first ? [] : sorted.slice(first, next));
    }
    return {
      pages: this.#startingAtLow(),
      written: this.#written,
      dropped: this.#dropped,
      deadSlots: [...this.#freeSlots, ...this.#dropped.map(({ slot, chunksMost }) => ({ slot, chunksMost }))],
      nextNumber: this.#nextNumber,
      verdicts: this.#verdicts,
      appliedCount: this.#appliedCount,
    };
  }

  /** The first page owns everything from the container's low, also after the page before it became empty. */
  #startingAtLow(): PageRef[] {
    const [first, ...rest] = this.#pages;
    return first === undefined ? [] : [{ ...first, low: this.#snapshot.header.low }, ...rest];
  }

  #changePage(ref: PageRef | undefined, changes: readonly Numbered[]): void {
    if (changes.length === 0) {
      if (ref !== undefined) this.#pages.push(ref);
      return;
    }
    const page = ref === undefined ? EMPTY_PAGE : pageOf(this.#snapshot, ref, this.#rules.table);
    const edits = this.#editsOf(page, changes);
    if (edits.length === 0) {
      if (ref !== undefined) this.#pages.push(ref);
      return;
    }
    const spliced = splice(page, page.expiring ? this.#withPurges(page, edits) : edits);
    this.#replacePage(ref, spliced);
  }

  #editsOf(page: Page, changes: readonly Numbered[]): Edit[] {
    const edits: Edit[] = [];
    let index = 0;
    for (let first = 0; first < changes.length;) {
      const { position, key } = changes[first]!.change;
      let end = first + 1;
      while (end < changes.length && compareBytes(changes[end]!.change.position, position) === 0) end += 1;
      index = lowerBound(page, position, this.#place, index);
      const present = index < recordCount(page) && compareBytes(keyAt(page, index), key) === 0;
      const stored = present ? recordAt(page, index) : undefined;
      const after = this.#decideAll(changes.slice(first, end), stored);
      if (after.changed) edits.push({ index, removed: present ? 1 : 0, record: after.record });
      if (present) index += 1;
      first = end;
    }
    return edits;
  }

  #decideAll(
    changes: readonly Numbered[],
    stored: StoredRecord | undefined,
  ): { changed: boolean; record: StoredRecord | undefined } {
    const { incarnation } = this.#snapshot.header;
    const isLive = stored !== undefined && !isExpired(stored, this.#rules.nowMs);
    let record = isLive ? stored : undefined;
    let changed = false;
    for (const { change, index } of changes) {
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
      const version = this.#nextNumber++;
      record = decision.kind === 'remove' ? undefined : { key: change.key, version, ...valueOf(decision) };
      changed = true;
      this.#appliedCount += 1;
      this.#verdicts[index] = { kind: 'applied', incarnation, version, record };
    }
    // A record put and deleted again in one group leaves nothing to splice.
    return { changed: changed && !(record === undefined && stored === undefined), record };
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

  #withPurges(page: Page, edits: readonly Edit[]): Edit[] {
    const replaced = new Set(edits.filter((edit) => edit.removed === 1).map((edit) => edit.index));
    const purges: Edit[] = [];
    for (let index = 0; index < recordCount(page); index += 1) {
      const { expiresAtMs } = recordAt(page, index);
      const isOld = expiresAtMs !== undefined && expiresAtMs + PURGE_AFTER_MS < this.#rules.nowMs;
      if (isOld && !replaced.has(index)) purges.push({ index, removed: 1, record: undefined });
    }
    // An insertion at an index comes before the removal of the record that stands there.
    return [...edits, ...purges].sort((a, b) => a.index - b.index || a.removed - b.removed);
  }

  #replacePage(ref: PageRef | undefined, page: Page): void {
    if (recordCount(page) === 0) {
      if (ref !== undefined) this.#dropped.push(ref);
      return;
    }
    let before: Page | undefined;
    for (const piece of cutPage(page, this.#rules.pageBytes)) {
      const low = before === undefined ? (ref?.low ?? this.#snapshot.header.low) : this.#separator(before, piece);
      const slot = before === undefined && ref !== undefined ? ref : this.#takeSlot();
      const sealed = this.#seal(piece, low, slot);
      this.#pages.push(sealed);
      this.#written.push({ ref: sealed, chunksBefore: slot.chunksMost });
      before = piece;
    }
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

  #seal(page: Page, low: Position, { slot, chunksMost }: DeadSlot): PageRef {
    const seat = { low, slot, number: this.#nextNumber++ };
    return sealRef(page, this.#snapshot.header, seat, this.#rules, chunksMost);
  }
}

export function isExpired(record: StoredRecord, nowMs: number): boolean {
  return record.expiresAtMs !== undefined && record.expiresAtMs <= nowMs;
}

function valueOf(decision: {
  codec: number;
  value: Uint8Array;
  expiresAtMs: number | undefined;
}): Omit<StoredRecord, 'key' | 'version'> {
  return { codec: decision.codec, value: decision.value, expiresAtMs: decision.expiresAtMs };
}

/** A user's function may throw: that is a verdict on its change, not on the group. */
function decideSafely(
  change: Change,
  record: StoredRecord | undefined,
  incarnation: string,
): ReturnType<Change['decide']> {
  try {
    return change.decide(record, incarnation);
  } catch (error) {
    return { kind: 'none', error };
  }
}
