// Makes actions of puts, updates and deletes. The engine decides a conditional one from the record.
import type { Action, Decide, Decision } from '../container/change.ts';
import type { DeleteItem, PutItem } from '../contract/options.ts';
import type { Entry } from '../contract/results.ts';
import { StoreError } from '../contract/errors.ts';
import { decodeEntry, encodeValue, matches, type ValueContext } from './values.ts';

/** The last moment a Date can hold, and below the largest varint. */
const LATEST_MS = 8.64e15;

export interface ActionContext extends ValueContext {
  readonly wallMs: () => number;
}

/** `bytes`: the value's, 0 where the value is not known yet. */
export interface Prepared {
  readonly action: Action;
  readonly bytes: number;
}

/** Throws `invalid` for senseless options or a value that the codec cannot store; `too_large`. */
export function preparePut<V>(context: ActionContext, item: PutItem<V>): Prepared {
  const { key, value, ifVersion, ifAbsent } = item;
  const where = { table: context.table, key };
  if (ifVersion !== undefined && ifAbsent === true)
    throw new StoreError('invalid', 'give ifVersion or ifAbsent, not both', where);
  const expiresAtMs = expiryOf(item, context);
  const { tag, bytes } = encodeValue(context.codec, value, where);
  const writing: Decision = { kind: 'write', codec: tag, value: bytes, expiresAtMs };
  const isBlind = ifVersion === undefined && ifAbsent !== true;
  return { action: isBlind ? writing : writeIf(writing, item, where), bytes: bytes.length };
}

/** Apart from `preparePut`: the closure would allocate its variables at every put. */
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

/** `change` runs at each attempt; undefined changes nothing. Throws `invalid` for a bad `ttlMs`. */
export function prepareUpdate<V>(
  context: ActionContext,
  key: string,
  change: (current: Entry<V> | undefined) => V | undefined,
  ttlMs: number | undefined,
): Prepared {
  const where = { table: context.table, key };
  const expiresAtMs = expiryAfter(ttlMs, context, key);
  const action: Decide = (current, incarnation) => {
    const entry = current === undefined ? undefined : decodeEntry<V>(context, key, current, incarnation);
    const value: unknown = change(entry);
    if (value === undefined) return { kind: 'none' };
    if (value instanceof Promise) {
      // Nothing else would handle its rejection.
      value.catch(() => undefined);
      throw new StoreError('invalid', 'the function given to update must not be asynchronous', where);
    }
    const { tag, bytes } = encodeValue(context.codec, value, where);
    return { kind: 'write', codec: tag, value: bytes, expiresAtMs: expiresAtMs ?? current?.expiresAtMs };
  };
  return { action, bytes: 0 };
}

export function prepareDelete({ table }: ActionContext, { key, ifVersion }: DeleteItem): Prepared {
  const action: Decide = (current, incarnation) => {
    if (!matches(ifVersion, current, incarnation))
      return conflict('the record is not at the version given', { table, key });
    return current === undefined ? { kind: 'none' } : { kind: 'remove' };
  };
  return { action, bytes: 0 };
}

/** When the record of an item expires, in milliseconds since 1970. */
function expiryOf({ key, ttlMs, expiresAtMs }: PutItem<unknown>, context: ActionContext): number | undefined {
  if (expiresAtMs === undefined) return expiryAfter(ttlMs, context, key);
  const where = { table: context.table, key };
  if (ttlMs !== undefined) throw new StoreError('invalid', 'give ttlMs or expiresAtMs, not both', where);
  if (Number.isSafeInteger(expiresAtMs) && expiresAtMs >= 0 && expiresAtMs <= LATEST_MS) return expiresAtMs;
  throw new StoreError('invalid', 'expiresAtMs must be a whole number of milliseconds since 1970', where);
}

/** When a record put now expires, in wall-clock milliseconds. */
function expiryAfter(ttlMs: number | undefined, { table, wallMs }: ActionContext, key: string): number | undefined {
  if (ttlMs === undefined) return undefined;
  if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0)
    throw new StoreError('invalid', 'ttlMs must be a positive whole number', { table, key });
  const expiresAtMs = wallMs() + ttlMs;
  if (expiresAtMs > LATEST_MS)
    throw new StoreError('invalid', 'ttlMs reaches beyond the end of time: leave it out', { table, key });
  return expiresAtMs;
}

function conflict(message: string, where: { table: string; key: string }): Decision {
  return { kind: 'none', error: new StoreError('conflict', message, where) };
}
