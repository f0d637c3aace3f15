// Turns puts, updates, touches and deletes into actions, and their verdicts into what callers hear.
// What an action with a condition does is decided from the record, at each attempt.
import { types } from 'node:util';
import type { Action, Batch, Clearing, Decide, Decision, Verdict } from '../container/change.ts';
import {
  type BatchItem,
  DELETE,
  type DeleteItem,
  type PutItem,
  type SchemaIssue,
  type StandardSchema,
  type TouchOptions,
} from '../contract/options.ts';
import { asStoreError, StoreError } from '../contract/errors.ts';
import type { DeleteOutcome, PutOutcome, UpdateItem, UpdateOutcome } from '../contract/results.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { encodeKey, groupOf } from '../format/position.ts';
import type { StoredRecord } from '../format/page-body.ts';
import { decodeEntry, encodeValue, pathStep, versionOf } from './encode-value.ts';
import type { TableContext } from './table-context.ts';

/** The last moment that a Date can hold. */
const LATEST_MS = 8.64e15;

/** One commit evaluates so many items without a pause, in some 20 ms. */
const BATCH_ITEMS_MAX = 5_000;

const NOTHING: Decision = { kind: 'none' };

/** An item of a call, whose outcome names its key. */
export interface Keyed {
  readonly key: string;
}

/** `bytes`: the size of the encoded value; 0 if it is not known yet. */
export interface Prepared {
  readonly action: Action;
  readonly bytes: number;
  /** Work on several records, which replaces the action. */
  readonly whole?: Clearing | Batch;
}

/**
 * Throws `invalid` for senseless options or a value that schema or codec refuse, or `too_large`.
 */
export function preparePut(context: TableContext, item: PutItem<unknown>): Prepared {
  const { key, value, ifVersion, ifAbsent } = item;
  const where = { table: context.engine.table, key };
  if (ifVersion !== undefined && ifAbsent === true)
    throw new StoreError('invalid', 'give ifVersion or ifAbsent, not both', where);
  const expiresAtMs = expiryOf(item, context);
  const { tag, bytes } = encodeValue(context.codec, validated(context.schema, value, where), where);
  const writing: Decision = { kind: 'write', codec: tag, value: bytes, expiresAtMs };
  const isBlind = ifVersion === undefined && ifAbsent !== true;
  return { action: isBlind ? writing : writeIf(writing, item, where), bytes: bytes.length };
}

/** Not within `preparePut`, where the closure would allocate its variables at every put. */
function writeIf(
  writing: Decision,
  { ifVersion, ifAbsent }: Pick<PutItem<unknown>, 'ifVersion' | 'ifAbsent'>,
  where: { table: string; key: string },
): Decide {
  return (current, incarnation) => {
    if (ifAbsent === true && current !== undefined) return conflict('the record exists already', where);
    if (!matches(ifVersion, current, incarnation)) return conflict('the record is not at the version given', where);
    return writing;
  };
}

/** Whether the record has the version that a call asks for; true if the call asks for none. */
function matches(ifVersion: string | undefined, current: StoredRecord | undefined, incarnation: Id64): boolean {
  if (ifVersion === undefined) return true;
  return current !== undefined && versionOf({ incarnation, version: current.version }) === ifVersion;
}

/** `change` runs at each attempt. Throws `invalid` for a bad `ttlMs`. */
export function prepareUpdate<V>(context: TableContext, { key, change, ttlMs }: UpdateItem<V, unknown>): Prepared {
  const where = { table: context.engine.table, key };
  const atBirthMs = expiryAfter(ttlMs, context, key);
  const action: Decide = (current, incarnation) => {
    const entry = current === undefined ? undefined : decodeEntry<V>(context, key, current, incarnation);
    const value: unknown = change(entry);
    if (value === undefined) return NOTHING;
    if (value === DELETE) return removing(current);
    if (types.isPromise(value)) {
      // Nothing else would handle its rejection.
      value.catch(() => undefined);
      throw new StoreError('invalid', 'the function given to update must not be asynchronous', where);
    }
    const { tag, bytes } = encodeValue(context.codec, validated(context.schema, value, where), where);
    const expiresAtMs = current === undefined || ttlMs !== undefined ? atBirthMs : current.expiresAtMs;
    return unlessSame(current, { kind: 'write', codec: tag, value: bytes, expiresAtMs });
  };
  return { action, bytes: 0 };
}

/** No change if the record is like that already. */
function unlessSame(current: StoredRecord | undefined, writing: Extract<Decision, { kind: 'write' }>): Decision {
  const isSame =
    current !== undefined &&
    current.codec === writing.codec &&
    current.expiresAtMs === writing.expiresAtMs &&
    compareBytes(current.value, writing.value) === 0;
  return isSame ? NOTHING : writing;
}

/** Throws `invalid` if there is no expiry. */
export function prepareTouch(context: TableContext, key: string, options: TouchOptions | undefined): Prepared {
  const { table } = context.engine;
  const expiresAtMs = expiryOf({ ...options, key }, context);
  if (expiresAtMs === undefined)
    throw new StoreError('invalid', 'give ttlMs or expiresAtMs, or open the table with ttlMs', { table, key });
  const action: Decide = (current) =>
    current === undefined ? NOTHING : unlessSame(current, { ...current, kind: 'write', expiresAtMs });
  return { action, bytes: 0 };
}

export function prepareDelete({ engine: { table } }: TableContext, { key, ifVersion }: DeleteItem): Prepared {
  const action: Decide = (current, incarnation) => {
    if (!matches(ifVersion, current, incarnation))
      return conflict('the record is not at the version given', { table, key });
    return removing(current);
  };
  return { action, bytes: 0 };
}

/** Throws `invalid` for items of two groups or two with one key, `too_large` for too many items. */
export function checkBatch(items: readonly BatchItem<unknown>[], groupBy: string | undefined, table: string): void {
  if (groupBy === undefined)
    throw new StoreError('invalid', 'a batch needs a table that was created with groupBy', { table });
  if (items.length > BATCH_ITEMS_MAX)
    throw new StoreError('too_large', `a batch has at most ${BATCH_ITEMS_MAX} items: send smaller ones`, { table });
  const keys = new Set<string>();
  const [first = { key: '' }] = items;
  for (const { key } of items) {
    const [group, other] = [first.key, key].map((each) => groupOf(encodeKey(each, table), groupBy));
    if (compareBytes(group!, other!) !== 0) {
      const names = `${JSON.stringify(first.key)} and ${JSON.stringify(key)}`;
      throw new StoreError('invalid', `a batch is of one group, but ${names} are of two`, { table, key });
    }
    if (keys.has(key)) throw new StoreError('invalid', 'a batch has each key once', { table, key });
    keys.add(key);
  }
}

export function prepareItem(context: TableContext, item: BatchItem<unknown>): Prepared {
  if (item.delete !== true) return preparePut(context, item);
  const { key, delete: _delete, ifVersion: _ifVersion, ...others } = item;
  if (Object.values(others).every((one) => one === undefined)) return prepareDelete(context, item);
  throw new StoreError('invalid', 'a deletion takes ifVersion alone', { table: context.engine.table, key });
}

function removing(current: StoredRecord | undefined): Decision {
  return current === undefined ? NOTHING : { kind: 'remove' };
}

/** When the record of an item expires, in milliseconds since 1970. */
function expiryOf(item: Omit<PutItem<unknown>, 'value'>, context: TableContext): number | undefined {
  const { key, ttlMs, expiresAtMs } = item;
  if (expiresAtMs === undefined) return expiryAfter(ttlMs, context, key);
  const where = { table: context.engine.table, key };
  if (ttlMs !== undefined) throw new StoreError('invalid', 'give ttlMs or expiresAtMs, not both', where);
  if (Number.isSafeInteger(expiresAtMs) && expiresAtMs >= 0 && expiresAtMs <= LATEST_MS) return expiresAtMs;
  throw new StoreError('invalid', 'expiresAtMs must be a whole number of milliseconds since 1970', where);
}

/** When a record made now expires, by the wall clock. Without `ttlMs` the handle's life counts. */
function expiryAfter(
  ttlMs: number | undefined,
  { engine: { table, runtime }, ttlMs: usualMs }: TableContext,
  key: string,
): number | undefined {
  checkTtl(ttlMs, { table, key });
  const lifeMs = ttlMs ?? usualMs;
  if (lifeMs === undefined) return undefined;
  const expiresAtMs = runtime.wallMs() + lifeMs;
  if (expiresAtMs > LATEST_MS)
    throw new StoreError('invalid', 'ttlMs reaches beyond the end of time: leave it out', { table, key });
  return expiresAtMs;
}

/** Throws `invalid` for a senseless life of records. */
export function checkTtl(ttlMs: number | undefined, where: { table: string; key?: string }): void {
  if (ttlMs === undefined || (Number.isSafeInteger(ttlMs) && ttlMs > 0)) return;
  throw new StoreError('invalid', 'ttlMs must be a positive whole number', where);
}

function conflict(message: string, where: { table: string; key: string }): Decision {
  return { kind: 'none', error: new StoreError('conflict', message, where) };
}

/** What the schema makes of the value. Throws `invalid`; a TypeError for an asynchronous schema. */
function validated(schema: StandardSchema | undefined, value: unknown, where: { table: string; key: string }): unknown {
  if (schema === undefined) return value;
  const result = schema['~standard'].validate(value);
  if (types.isPromise(result)) {
    // Nothing else would handle its rejection.
    result.catch(() => undefined);
    throw new TypeError('the schema of a table must be synchronous: await such checks before the call');
  }
  if (result.issues === undefined) return result.value;
  throw new StoreError('invalid', refusal(result.issues), { ...where, cause: result.issues });
}

function refusal(issues: readonly SchemaIssue[]): string {
  const [first, ...others] = issues;
  const path = (first?.path ?? []).map((step) => pathStep(typeof step === 'object' ? step.key : step));
  const more = others.length === 0 ? '' : ` (${others.length} more in the cause)`;
  return `the schema refuses value${path.join('')}: ${first?.message}${more}`;
}

/** The version that a change gave its record; undefined if it changed nothing. */
export function versionAfter(verdict: Verdict): string | undefined {
  return verdict.kind === 'applied' ? versionOf(verdict) : undefined;
}

/** A put that does not fail takes effect. */
export function putOutcome({ key }: Keyed, verdict: Verdict): PutOutcome {
  if (verdict.kind === 'failed') return { status: 'failed', key, error: asStoreError(verdict.error) };
  return { status: 'written', key, version: versionAfter(verdict)! };
}

export function deleteOutcome({ key }: Keyed, verdict: Verdict): DeleteOutcome {
  if (verdict.kind === 'failed') return { status: 'failed', key, error: asStoreError(verdict.error) };
  const version = versionAfter(verdict);
  return version === undefined ? { status: 'absent', key } : { status: 'deleted', key, version };
}

export function updateOutcome<V>(context: TableContext, key: string, verdict: Verdict): UpdateOutcome<V> {
  if (verdict.kind === 'failed') return { status: 'failed', key, error: updateError(context, key, verdict.error) };
  const { kind, incarnation, record } = verdict;
  if (record === undefined) return deleteOutcome({ key }, verdict);
  const status = kind === 'applied' ? 'written' : 'unchanged';
  return { status, ...decodeEntry<V>(context, key, record, incarnation) };
}

function updateError({ engine: { table } }: TableContext, key: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('invalid', 'the function given to update threw: see the cause', { table, key, cause: error });
}
