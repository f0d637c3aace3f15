// Runs a plan. Results in the order of keys come one by one; another order needs all of them first.
import { keyBytesOf, propertiesOf, valueOf } from '../entities/entities.ts';
import { KEY } from '../entities/keys.ts';
import { compareValues, type IndexValue, indexValues, keyValue, RANK_KEY } from '../entities/value-order.ts';
import type { Properties } from '../entities/values.ts';
import { asOf, sortedOrders, type Storage, type Stored, type Table } from '../storage/storage.ts';
import { holds, inRange, type ValuesOf } from './filters.ts';
import type { Order, Plan } from './plan.ts';

export interface Row {
  readonly stored: Stored;
  /** The values it is sorted by, before its key. */
  readonly sortedBy: readonly IndexValue[];
}

/** A position directly after a row. */
export type Position = Pick<Row, 'sortedBy'> & { readonly order: string };

/** Rows in order, all of them behind `after` if that is given. */
export function rowsOf(plan: Plan, storage: Storage, version: number | undefined, after?: Position): Iterable<Row> {
  const candidates = candidatesOf(plan, storage, version, after);
  if (plan.orders.length === 0) return matching(plan, candidates);
  const rows = [...matching(plan, candidates)].sort((one, other) => compareRows(plan, one, other));
  return behind(plan, rows, after);
}

/** True if the plan finds this state of a key. */
export function isFound(plan: Plan, state: Stored | undefined): boolean {
  if (state?.entity === undefined) return false;
  return holds(plan.conditions, viewOf(plan, state), state.order);
}

/** The order of a position relative to a row. */
export function comparePlaces(plan: Plan, one: Position, other: Position): number {
  for (const [place, order] of plan.orders.entries()) {
    const compared = compareValues(one.sortedBy[place]!, other.sortedBy[place]!);
    if (compared !== 0) return order.descending ? -compared : compared;
  }
  const compared = one.order < other.order ? -1 : one.order > other.order ? 1 : 0;
  return plan.keyDescending ? -compared : compared;
}

export function placeOf({ sortedBy, stored }: Row): Position {
  return { sortedBy, order: stored.order };
}

function compareRows(plan: Plan, one: Row, other: Row): number {
  return comparePlaces(plan, placeOf(one), placeOf(other));
}

function* candidatesOf(plan: Plan, storage: Storage, version: number | undefined, after?: Position): Generator<Stored> {
  let { from, to } = plan;
  if (plan.orders.length === 0 && after !== undefined) {
    if (plan.keyDescending) to = to === undefined || after.order < to ? after.order : to;
    else if (`${after.order}\0` > from) from = `${after.order}\0`;
  }
  if (to !== undefined && to <= from) return;
  const tables = storage.tables(plan.partition, plan.kind);
  for (const { table, order } of plan.keyDescending ? descending(tables, from, to) : ascending(tables, from, to)) {
    const state = table.states.get(order);
    const read = version === undefined ? state : asOf(state, version);
    if (read?.entity !== undefined) yield read;
  }
}

interface Place {
  readonly table: Table;
  readonly order: string;
}

function* ascending(tables: readonly Table[], from: string, to: string | undefined): Generator<Place> {
  if (tables.length > 1) yield* mergedPlaces(tables, from, to);
  else for (const table of tables) for (const order of sortedOrders(table, from, to)) yield { table, order };
}

function* descending(tables: readonly Table[], from: string, to: string | undefined): Generator<Place> {
  // Only a query of one kind can be descending.
  for (const table of tables) {
    const orders = sortedOrders(table, from, to);
    for (let place = orders.length - 1; place >= 0; place -= 1) yield { table, order: orders[place]! };
  }
}

function mergedPlaces(tables: readonly Table[], from: string, to: string | undefined): Place[] {
  const places = tables.flatMap((table) => sortedOrders(table, from, to).map((order) => ({ table, order })));
  return places.sort((one, other) => (one.order < other.order ? -1 : 1));
}

function* matching(plan: Plan, candidates: Iterable<Stored>): Generator<Row> {
  for (const stored of candidates) {
    const valuesOf = viewOf(plan, stored);
    if (!holds(plan.conditions, valuesOf, stored.order)) continue;
    const sortedBy = plan.orders.map((order) => sortValue(plan, order, valuesOf));
    // An entity without a value to sort by is not in that index.
    if (sortedBy.every((value) => value !== undefined)) yield { stored, sortedBy };
  }
}

/** The first value in the order, of those that satisfy the inequalities. */
function sortValue(plan: Plan, { property, descending }: Order, valuesOf: ValuesOf): IndexValue | undefined {
  let best: IndexValue | undefined;
  for (const value of valuesOf(property)) {
    if (!inRange(plan.conditions, property, value)) continue;
    if (best === undefined || compareValues(value, best) < 0 !== descending) best = value;
  }
  return best;
}

function* behind(plan: Plan, rows: Iterable<Row>, after: Position | undefined): Generator<Row> {
  for (const row of rows) if (after === undefined || comparePlaces(plan, placeOf(row), after) > 0) yield row;
}

/** The index values of an entity, computed on first use. */
function viewOf(plan: Plan, { entity, order }: Stored): ValuesOf {
  let properties: Properties | undefined;
  const values = new Map<string, readonly IndexValue[]>();
  return (property) => {
    const known = values.get(property);
    if (known !== undefined) return known;
    const found =
      property === KEY
        ? [{ rank: RANK_KEY, content: `${plan.partition}\n${order}`, encoded: keyValue(keyBytesOf(entity!)) }]
        : valuesIn((properties ??= propertiesOf(entity!)).get(property), plan);
    values.set(property, found);
    return found;
  };
}

function valuesIn(entry: Buffer | undefined, { database }: Plan): IndexValue[] {
  return entry === undefined ? [] : indexValues(valueOf(entry), database);
}
