// Sorts waiting changes into those of a container's next commit and the others, and decides what
// each makes of its record, and its verdict. No I/O.
import { chunksOf, type DriverLimits } from '../contract/driver.ts';
import { orderChanged, StoreError } from '../contract/errors.ts';
import { asName, compareBytes, type Id64 } from '../format/bytes.ts';
import { type Header, HEADER_FIXED_BYTES } from '../format/header.ts';
import { isExpired, type Page, type StoredRecord, tombstoneOf } from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { groupOf, within } from '../format/position.ts';
import { locate } from './branch.ts';
import { type Batch, byPosition, type Change, type Decision, type Verdict } from './change.ts';
import { findRecord } from './layers.ts';
import { pageOf, type Snapshot } from './snapshot.ts';

/** What a lone record costs beside its key and value: a row of the page table and an envelope. */
const RECORD_COST_BYTES = 128;

export interface DecisionRules {
  /** Appears in errors. */
  readonly table: string;
  readonly limits: DriverLimits;
  /** The time of the attempt, by which expiry is judged. */
  readonly nowMs: number;
}

export interface Decisions {
  /** The records to write, sorted by position; tombstones where a removed one may be stored. */
  readonly records: StoredRecord[];
  /** One per change, in the same order. */
  readonly verdicts: Verdict[];
  /** The next free number. Each change that has an effect takes one. */
  nextNumber: number;
}

/**
 * Decides changes that are sorted by position, then by effect. Those that take effect get the
 * versions from `firstNumber` on. The pages of `rowsFor` must be known, except for blind changes.
 */
export function decideAll(
  snapshot: Snapshot,
  changes: readonly Change[],
  rules: DecisionRules,
  firstNumber = snapshot.header.nextNumber,
): Decisions {
  const decisions: Decisions = { records: [], verdicts: [], nextNumber: firstNumber };
  for (let first = 0; first < changes.length;) {
    const { position, whole } = changes[first]!;
    let end = first + 1;
    if (whole?.kind === 'batch') decideBatch(snapshot, whole, rules, decisions);
    else {
      // `sortChanges` takes no other change of a batch's group, so none of these is a batch.
      while (end < changes.length && compareBytes(changes[end]!.position, position) === 0) end += 1;
      const isAll = first === 0 && end === changes.length;
      decideRecord(snapshot, isAll ? changes : changes.slice(first, end), rules, decisions);
    }
    first = end;
  }
  return decisions;
}

/** Decides a batch. Its first failure fails all of it, and changes no record. */
function decideBatch(snapshot: Snapshot, { parts, groupBy }: Batch, rules: DecisionRules, decisions: Decisions): void {
  const { header } = snapshot;
  const { incarnation } = header;
  const version = decisions.nextNumber;
  const isHere = header.groupBy === groupBy && parts.every(({ position }) => within(position, header.low, header.high));
  if (!isHere) return void decisions.verdicts.push({ kind: 'failed', error: orderChanged(rules.table) });
  const { records, verdicts, nextNumber } = decideAll(snapshot, parts, rules, version);
  const failed = verdicts.find((verdict) => verdict.kind === 'failed');
  decisions.verdicts.push(failed ?? { kind: 'applied', incarnation, version, record: undefined, parts: verdicts });
  if (failed !== undefined) return;
  decisions.records.push(...records);
  decisions.nextNumber = nextNumber;
}

/** Decides the changes of one position. There is at least one. */
function decideRecord(
  snapshot: Snapshot,
  changes: readonly Change[],
  rules: DecisionRules,
  decisions: Decisions,
): void {
  const { header } = snapshot;
  const { incarnation } = header;
  // If all changes are blind, nothing is read.
  const looking = changes.find(({ isBlind }) => !isBlind);
  const open = (ref: PageRef): Page => pageOf(snapshot, ref, rules.table);
  const stored = looking && findRecord(header, looking.position, looking.key, open);
  let record = stored !== undefined && !isExpired(stored, rules.nowMs) ? stored : undefined;
  let version: number | undefined;
  for (const change of changes) {
    const decision = decideSafely(change, record, incarnation);
    if ('error' in decision) decisions.verdicts.push({ kind: 'failed', error: decision.error });
    else if (decision.kind === 'none' || (decision.kind === 'remove' && mustStay(change, header)))
      decisions.verdicts.push({ kind: 'unchanged', incarnation, record });
    else if (decision.kind === 'write' && !fitsAlone(change, decision.value, rules))
      decisions.verdicts.push({ kind: 'failed', error: tooLarge(snapshot, rules) });
    else {
      version = decisions.nextNumber++;
      if (decision.kind === 'remove') record = undefined;
      else {
        const { codec, value, expiresAtMs } = decision;
        record = { key: change.key, version, codec, value, expiresAtMs };
      }
      decisions.verdicts.push({ kind: 'applied', incarnation, version, record });
    }
  }
  if (version === undefined) return;
  // A record that is put and deleted within one commit leaves nothing behind.
  const left = record ?? (stored && tombstoneOf(stored.key, version));
  if (left !== undefined) decisions.records.push(left);
}

/** Rule 29: a branch never loses its first entry. */
function mustStay({ level, position }: Change, { low }: Header): boolean {
  return level > 0 && compareBytes(position, low) === 0;
}

/** Rule 7: a record that fits into no container must not fail the others of its commit. */
function fitsAlone({ key }: Change, value: Uint8Array, { limits }: DecisionRules): boolean {
  const bytes = key.length + value.length + RECORD_COST_BYTES;
  const cost = HEADER_FIXED_BYTES + bytes + (2 + chunksOf(bytes, limits)) * limits.chunkOverheadBytes;
  return limits.entityOverheadBytes + cost <= limits.entityBytesMax;
}

function tooLarge({ id }: Snapshot, { table, limits }: DecisionRules): StoreError {
  const message = `the record does not fit into a container of ${limits.provider}: make it smaller`;
  return new StoreError('too_large', message, { table, container: id });
}

/** A function of the caller may throw. That fails its own change, and not the others. */
function decideSafely(change: Change, record: StoredRecord | undefined, incarnation: Id64): Decision {
  try {
    return typeof change.action === 'function' ? change.action(record, incarnation) : change.action;
  } catch (error) {
    return { kind: 'none', error };
  }
}

/** The most bytes of changes in one commit. */
const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

/** Changes by where `locate` finds them. All lists but the first are in the order of arrival. */
export interface SortedChanges {
  /** For the next commit, sorted by position. */
  readonly here: Change[];
  /** For later commits, as they do not fit into the next. */
  readonly later: Change[];
  readonly right: Change[];
  readonly gone: Change[];
  readonly restart: Change[];
}

/** A commit takes at most `countMax` changes. Fails changes that were made for another order. */
export function sortChanges(
  changes: readonly Change[],
  header: Header,
  { countMax, table }: { readonly countMax: number; readonly table: string },
): SortedChanges {
  const sorted: SortedChanges = { here: [], later: [], right: [], gone: [], restart: [] };
  const groups: Groups = new Map();
  let bytes = 0;
  for (const change of changes) {
    if (change.isSettled) continue;
    const found = locate(header, change.position, change.level);
    const isReached = found === 'here' || found === 'right';
    if (isReached && change.order !== undefined && change.order !== header.order)
      change.settle({ kind: 'failed', error: orderChanged(table) });
    else if (found === 'here') {
      const hasRoom =
        sorted.here.length < countMax && bytes < COMMIT_BYTES_MAX && mayShare(change, sorted.here, groups, header);
      (hasRoom ? sorted.here : sorted.later).push(change);
      bytes += change.bytes;
    } else sorted[found].push(change);
  }
  sorted.here.sort(byPosition);
  return sorted;
}

/** For each group of a commit's changes: whether one of them is a batch. */
type Groups = Map<string, boolean>;

/** A clear has a commit to itself. A batch shares one only with other groups (rule 34). */
function mayShare(change: Change, [first]: readonly Change[], groups: Groups, { groupBy }: Header): boolean {
  const isWhole = change.whole !== undefined;
  if (groupBy === undefined) return first === undefined || (!isWhole && first.whole === undefined);
  if (first !== undefined && (first.whole?.kind === 'clear' || change.whole?.kind === 'clear')) return false;
  const name = asName(groupOf(change.position, groupBy));
  const hasBatch = groups.get(name);
  if (hasBatch === true || (hasBatch === false && isWhole)) return false;
  groups.set(name, isWhole);
  return true;
}
