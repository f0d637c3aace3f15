// Checks a query and plans it: the tables and the range of keys to read, the filter, the order of
// the results.
import { afterDescendants, type Database, KEY, partitionOf } from '../entities/keys.ts';
import { DISJUNCTIONS_MAX } from '../wire/limits.ts';
import { enumValue, type Query } from '../wire/protocol.ts';
import { inside, invalid, status, StatusError } from '../wire/status.ts';
import { comparisonsOf, type Condition, conditionOf, conjunctsOf, isInequality, propertyName } from './filters.ts';

export interface Order {
  readonly property: string;
  readonly descending: boolean;
}

export interface Plan {
  readonly database: Database;
  readonly partition: string;
  /** Undefined: all kinds. */
  readonly kind: string | undefined;
  readonly condition: Condition | undefined;
  /** Orders before the key, which is always the last. */
  readonly orders: readonly Order[];
  readonly keyDescending: boolean;
  /** Properties of a projection; none: whole entities, or keys alone. */
  readonly projection: readonly string[];
  readonly keysOnly: boolean;
  readonly distinctOn: readonly string[];
  /** Order strings of keys: what can be found lies in [from, to). */
  readonly from: string;
  readonly to: string | undefined;
}

const ASCENDING = enumValue('PropertyOrder.Direction', 'ASCENDING');
const DESCENDING = enumValue('PropertyOrder.Direction', 'DESCENDING');

/** Throws INVALID_ARGUMENT naming the field below the query, or UNIMPLEMENTED. */
export function planOf(query: Query, partitionId: Buffer | null, database: Database): Plan {
  if (query.findNearest !== null)
    throw new StatusError(status.UNIMPLEMENTED, 'find_nearest: not supported by this emulator');
  const partition = inside('partition_id', () => partitionOf(partitionId ?? undefined, database));
  const kind = kindOf(query);
  const { filter } = query;
  const condition = filter === null ? undefined : inside('filter', () => conditionOf(filter, database));
  if (condition !== undefined) checkCondition(condition, kind, partition);
  const given = ordersOf(query);
  const projection = projectionOf(query, condition);
  const orders = impliedOrders(given, condition, projection);
  const keyOrder = orders.findIndex(({ property }) => property === KEY);
  const before = keyOrder === -1 ? orders : orders.slice(0, keyOrder);
  const keyDescending = orders[keyOrder === -1 ? orders.length - 1 : keyOrder]?.descending ?? false;
  if (kind === undefined && (before.length > 0 || keyDescending))
    throw invalid('kind', `must be set for any order but ${KEY} ascending`);
  const keysOnly = projection.length === 1 && projection[0] === KEY;
  return {
    database,
    partition,
    kind,
    condition,
    orders: before,
    keyDescending,
    projection: projection.filter((name) => name !== KEY),
    keysOnly,
    distinctOn: distinctOf(query, given),
    ...keyRange(condition),
  };
}

function kindOf({ kind: kinds }: Query): string | undefined {
  if (kinds.length > 1) throw invalid('kind', 'must not name more than one kind');
  const [kind] = kinds;
  if (kind?.name === '') throw invalid('kind[0].name', 'must not be empty');
  if (kind !== undefined && METADATA.has(kind.name))
    throw new StatusError(
      status.UNIMPLEMENTED,
      `kind[0].name: queries of ${kind.name} are not supported by this emulator`,
    );
  return kind?.name;
}

const METADATA = new Set(['__kind__', '__namespace__', '__property__']);

function checkCondition(condition: Condition, kind: string | undefined, partition: string): void {
  const comparisons = comparisonsOf(condition);
  const other = comparisons.find(({ property }) => property !== KEY);
  if (kind === undefined && other !== undefined)
    throw invalid('kind', `must be set for a filter on "${other.property}"`);
  if (disjunctions(condition) > DISJUNCTIONS_MAX)
    throw invalid('filter', `must not have more than ${DISJUNCTIONS_MAX} disjunctions (OR, IN)`);
  for (const each of conjunctsOf(condition)) {
    if (each.kind === 'ancestor' && each.partition !== partition)
      throw invalid('filter', 'the ancestor lies in another namespace than the query');
  }
}

/** How many ANDs the filter has when it is written as an OR of them. */
function disjunctions(condition: Condition): number {
  if (condition.kind === 'or') return condition.conditions.reduce((sum, each) => sum + disjunctions(each), 0);
  if (condition.kind === 'and') return condition.conditions.reduce((product, each) => product * disjunctions(each), 1);
  return 1;
}

function ordersOf({ order }: Query): Order[] {
  const seen = new Set<string>();
  return order.map(({ property, direction }, place) =>
    inside(`order[${place}]`, () => {
      const name = propertyName(property);
      if (seen.has(name)) throw invalid('property.name', `"${name}" is in the order twice`);
      seen.add(name);
      if (direction !== 0 && direction !== ASCENDING && direction !== DESCENDING)
        throw invalid('direction', `${direction} is not one of its values`);
      return { property: name, descending: direction === DESCENDING };
    }),
  );
}

function projectionOf({ projection }: Query, condition: Condition | undefined): string[] {
  const names = projection.map(({ property }, place) => inside(`projection[${place}]`, () => propertyName(property)));
  if (new Set(names).size < names.length) throw invalid('projection', 'must not name a property twice');
  for (const each of conjunctsOf(condition)) {
    if (each.kind === 'compare' && each.test === '=' && names.includes(each.property))
      throw invalid('projection', `"${each.property}" is known already: the filter says what it is equal to`);
  }
  return names;
}

function distinctOf({ distinctOn }: Query, given: readonly Order[]): string[] {
  const names = distinctOn.map((property, place) => inside(`distinct_on[${place}]`, () => propertyName(property)));
  const first = given.slice(0, names.length).map(({ property }) => property);
  if (given.length > 0 && names.some((name) => !first.includes(name)))
    throw invalid('distinct_on', 'its properties must come first in the order');
  return names;
}

/**
 * Properties with inequalities, and those of a projection, order the results too, if the query does
 * not say it itself.
 */
function impliedOrders(
  given: readonly Order[],
  condition: Condition | undefined,
  projection: readonly string[],
): Order[] {
  const named = new Set(given.map(({ property }) => property));
  if (named.has(KEY)) return [...given];
  const comparisons = condition === undefined ? [] : comparisonsOf(condition);
  const unequal = comparisons.filter(isInequality).map(({ property }) => property);
  const implied = new Set([...unequal.sort(), ...projection]);
  const descending = given.at(-1)?.descending ?? false;
  const missing = [...implied].filter((name) => !named.has(name) && name !== KEY);
  return [...given, ...missing.map((property) => ({ property, descending }))];
}

function keyRange(condition: Condition | undefined): Pick<Plan, 'from' | 'to'> {
  let from = '';
  let to: string | undefined;
  const raise = (bound: string) => {
    if (bound > from) from = bound;
  };
  const lower = (bound: string) => {
    if (to === undefined || bound < to) to = bound;
  };
  for (const each of conjunctsOf(condition)) {
    if (each.kind === 'ancestor') {
      raise(each.order);
      lower(afterDescendants(each.order));
    } else if (each.kind === 'compare' && each.property === KEY && each.test !== '!=') {
      const order = (each.value.content as string).split('\n').slice(3).join('\n');
      if (each.test !== '<' && each.test !== '<=') raise(order);
      if (each.test === '<') lower(order);
      else if (each.test === '<=' || each.test === '=') lower(`${order}\0`);
    }
  }
  return { from, to };
}
