// Deciding, pure: what each change makes of its record, and its verdict. It knows no pages.
import { chunksOf, type DriverLimits } from '../contract/driver.ts';
import { orderChanged, StoreError } from '../contract/errors.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { HEADER_FIXED_BYTES } from '../format/header.ts';
import { isExpired, type StoredRecord, tombstoneOf } from '../format/record.ts';
import { within } from '../format/position.ts';
import type { Batch, Change, Decision, Verdict } from './change.ts';
import { findRecord } from './layers.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

/** The cost of a record alone, beside key and value: its row, its page's envelope. */
const RECORD_COST_BYTES = 128;

export interface DecisionRules {
  /** Named in errors. */
  readonly table: string;
  readonly limits: DriverLimits;
  /** The attempt's time: expiry is judged by it alone. */
  readonly nowMs: number;
}

export interface Decisions {
  /** The records left behind, in order of position: tombstones if one may have been before. */
  readonly records: StoredRecord[];
  /** One for each change, in the order given. */
  readonly verdicts: readonly Verdict[];
  /** Changes that had an effect: each took a number. */
  readonly appliedCount: number;
  /** The first number not taken. */
  readonly nextNumber: number;
}

/**
 * Decides on changes in order of position, then of effect. `firstNumber`: the version of the first
 * effect. The pages of `rowsFor` must be known, but for blind changes.
 */
function decide(snapshot: Snapshot, changes: readonly Change[], rules: DecisionRules, firstNumber: number): Decisions {
  return new Decider(snapshot, changes, rules, firstNumber).run();
}

/** As `decide`, with batches among the changes, each of a group of its own. */
export function decideAll(snapshot: Snapshot, changes: readonly Change[], rules: DecisionRules): Decisions {
  const first = snapshot.header.nextNumber;
  if (changes.every(({ whole }) => whole === undefined)) return decide(snapshot, changes, rules, first);
  const records: StoredRecord[] = [];
  const verdicts: Verdict[] = [];
  let nextNumber = first;
  for (let index = 0; index < changes.length;) {
    const { whole } = changes[index]!;
    const end = whole === undefined ? endOfSingles(changes, index) : index + 1;
    const some =
      whole?.kind === 'batch'
        ? decideTogether(snapshot, whole, rules, nextNumber)
        : decide(snapshot, changes.slice(index, end), rules, nextNumber);
    records.push(...some.records);
    verdicts.push(...some.verdicts);
    ({ nextNumber } = some);
    index = end;
  }
  return { records, verdicts, appliedCount: nextNumber - first, nextNumber };
}

function endOfSingles(changes: readonly Change[], from: number): number {
  const behind = changes.findIndex(({ whole }, index) => index > from && whole !== undefined);
  return behind < 0 ? changes.length : behind;
}

/** Decides on a batch: its first failure fails all of it, and leaves every record as it is. */
function decideTogether(
  snapshot: Snapshot,
  { parts, groupBy }: Batch,
  rules: DecisionRules,
  firstNumber: number,
): Decisions {
  const { header } = snapshot;
  const { incarnation } = header;
  const refused = (error: unknown): Decisions => ({
    records: [],
    verdicts: [{ kind: 'failed', error }],
    appliedCount: 0,
    nextNumber: firstNumber,
  });
  const isHere = header.groupBy === groupBy && parts.every(({ position }) => within(position, header.low, header.high));
  if (!isHere) return refused(orderChanged(rules.table));
  const decisions = decide(snapshot, parts, rules, firstNumber);
  const failed = decisions.verdicts.find((verdict) => verdict.kind === 'failed');
  if (failed !== undefined) return refused(failed.error);
  const whole = { kind: 'applied', incarnation, version: firstNumber, record: undefined } as const;
  return { ...decisions, verdicts: [{ ...whole, parts: decisions.verdicts }] };
}

class Decider {
  readonly #snapshot: Snapshot;
  readonly #changes: readonly Change[];
  readonly #rules: DecisionRules;
  readonly #firstNumber: number;
  readonly #verdicts: Verdict[] = [];
  #nextNumber: number;

  constructor(snapshot: Snapshot, changes: readonly Change[], rules: DecisionRules, firstNumber: number) {
    this.#snapshot = snapshot;
    this.#changes = changes;
    this.#rules = rules;
    this.#firstNumber = firstNumber;
    this.#nextNumber = firstNumber;
  }

  run(): Decisions {
    const changes = this.#changes;
    const records: StoredRecord[] = [];
    for (let first = 0; first < changes.length;) {
      const { position } = changes[first]!;
      let end = first + 1;
      while (end < changes.length && compareBytes(changes[end]!.position, position) === 0) end += 1;
      const record = this.#decideTogether(first, end);
      if (record !== undefined) records.push(record);
      first = end;
    }
    const nextNumber = this.#nextNumber;
    return { records, verdicts: this.#verdicts, appliedCount: nextNumber - this.#firstNumber, nextNumber };
  }

  /** The record of one position after these changes; undefined if they leave it as it is. */
  #decideTogether(first: number, end: number): StoredRecord | undefined {
    const { incarnation } = this.#snapshot.header;
    const stored = this.#storedRecord(first, end);
    let record = stored !== undefined && !isExpired(stored, this.#rules.nowMs) ? stored : undefined;
    let version: number | undefined;
    for (let index = first; index < end; index += 1) {
      const change = this.#changes[index]!;
      const decision = decideSafely(change, record, incarnation);
      if (decision.kind === 'none' || (decision.kind === 'remove' && this.#mustStay(change))) {
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
      this.#verdicts[index] = { kind: 'applied', incarnation, version, record };
    }
    if (version === undefined) return undefined;
    // A record put and deleted again in one group leaves nothing.
    return record ?? (stored === undefined ? undefined : tombstoneOf(stored.key, version));
  }

  /** The stored record; undefined also if none of the changes would look at it. */
  #storedRecord(first: number, end: number): StoredRecord | undefined {
    for (let index = first; index < end; index += 1) {
      const { isBlind, position, key } = this.#changes[index]!;
      if (!isBlind)
        return findRecord(this.#snapshot.header, position, key, (ref) =>
          pageOf(this.#snapshot, ref, this.#rules.table),
        );
    }
    return undefined;
  }

  /** A branch begins with its first entry (rule 29). */
  #mustStay({ level, position }: Change): boolean {
    return level > 0 && compareBytes(position, this.#snapshot.header.low) === 0;
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
}

function recordOf(
  key: Uint8Array,
  version: number,
  { codec, value, expiresAtMs }: Extract<Decision, { kind: 'write' }>,
): StoredRecord {
  return { key, version, codec, value, expiresAtMs };
}

/** A user's function may throw: that is a verdict on its change, not on the group. */
function decideSafely(change: Change, record: StoredRecord | undefined, incarnation: Id64): Decision {
  try {
    return typeof change.action === 'function' ? change.action(record, incarnation) : change.action;
  } catch (error) {
    return { kind: 'none', error };
  }
}
