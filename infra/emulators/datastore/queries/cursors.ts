// A cursor holds the values that results are sorted by: concurrent writes do not move it.
import { indexValues } from '../entities/value-order.ts';
import { invalid } from '../wire/status.ts';
import { bytesField, WireReader } from '../wire/wire.ts';
import type { Plan } from './plan.ts';
import type { Position } from './rows.ts';

const VALUE = 1;
const KEY = 2;
const QUERY = 3;

export function encodeCursor(plan: Plan, { sortedBy, order }: Position): Buffer {
  const values = sortedBy.flatMap(({ encoded }) => bytesField(VALUE, encoded));
  const key = bytesField(KEY, Buffer.from(order, 'latin1'));
  return Buffer.concat([...bytesField(QUERY, Buffer.from(signature(plan))), ...key, ...values]);
}

/** Undefined if there is none. Throws INVALID_ARGUMENT if it is not a cursor of this query. */
export function decodeCursor(plan: Plan, bytes: Buffer, field: string): Position | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return read(plan, bytes);
  } catch {
    throw invalid(field, 'is not a cursor of this query');
  }
}

function read(plan: Plan, bytes: Buffer): Position {
  const reader = new WireReader(bytes);
  const sortedBy: Position['sortedBy'][number][] = [];
  let order: string | undefined;
  let of: string | undefined;
  while (reader.next()) {
    if (reader.field === QUERY) of = reader.text();
    else if (reader.field === KEY) order = reader.slice().toString('latin1');
    else if (reader.field === VALUE) sortedBy.push(...indexValues(reader.slice(), plan.database).slice(0, 1));
  }
  if (order === undefined || of !== signature(plan) || sortedBy.length !== plan.orders.length)
    throw new Error('foreign');
  return { sortedBy, order };
}

/** The parts of a query that must be the same for a cursor of it to be used. */
function signature({ kind, orders, keyDescending }: Plan): string {
  return JSON.stringify([
    kind ?? null,
    keyDescending,
    ...orders.map(({ property, descending }) => [property, descending]),
  ]);
}
