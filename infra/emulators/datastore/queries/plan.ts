// Checks a query and plans tables, range of keys, filter and order.
import { afterDescendants, type Database, KEY, partitionOf } from '../entities/keys.ts';
import { FILTERS_MAX } from '../wire/limits.ts';
import { enumValue, type Query } from '../wire/protocol.ts';
import { inside, invalid, unsupported } from '../wire/status.ts';
import { type Condition, conditionsOf, isInequality, propertyName } from './filters.ts';

export interface Order {
  readonly property: string;
  readonly descending: boolean;
}

export interface Plan {
  readonly database: Database;
  readonly partition: string;
  /** Undefined: all kinds. */
  readonly kind: string | undefined;
  readonly conditions: readonly Condition[];
  /** Orders before the key, which is always the last. */
  readonly orders: readonly Order[];
  readonly keyDescending: boolean;
  readonly keysOnly: boolean;
  /** Order strings of keys: what can be found lies in [from, to). */
  readonly from: string;
  readonly to: string | undefined;
}

const ASCENDING = enumValue('PropertyOrder.Direction', 'ASCENDING');
const DESCENDING = enumValue('PropertyOrder.Direction', 'DESCENDING');

/** Throws INVALID_ARGUMENT naming the field below the query, or UNIMPLEMENTED. */
export function planOf(query: Query, partitionId: Buffer | null, database: Database): Plan {
  if (query.findNearest !== null) throw unsupported('find_nearest');
  if (query.distinctOn.length > 0) throw unsupported('distinct_on');
  const partition = inside('partition_id', () => partitionOf(partitionId ?? undefined, database));
  const kind = kindOf(query);
  const { filter } = query;
  const conditions = filter === null ? [] : inside('filter', () => conditionsOf(filter, database));
  checkConditions(conditions, kind, partition);
  const orders = orderedBy(ordersOf(query), conditions);
  const keyOrder = orders.findIndex(({ property }) => property === KEY);
  const before = keyOrder === -1 ? orders : orders.slice(0, keyOrder);
  const keyDescending = orders.at(keyOrder)?.descending ?? false;
  if (kind === undefined && (before.length > 0 || keyDescending))
    throw invalid('kind', `must be set for any order but ${KEY} ascending`);
  return {
    database,
    partition,
    kind,
    conditions,
    orders: before,
    keyDescending,
    keysOnly: isKeysOnly(query),
    ...keyRange(conditions),
  };
}

function kindOf({ kind: kinds }: Query): string | undefined {
  if (kinds.length > 1) throw invalid('kind', 'must not name more than one kind');
  const [kind] = kinds;
  if (kind?.name === '') throw invalid('kind[0].name', 'must not be empty');
  if (kind !== undefined && METADATA.has(kind.name)) throw unsupported(`kind[0].name: queries of ${kind.name}`);
  return kind?.name;
}

const METADATA = new Set(['__kind__', '__namespace__', '__property__']);

function checkConditions(conditions: readonly Condition[], kind: string | undefined, partition: string): void {
  if (conditions.length > FILTERS_MAX) throw invalid('filter', `must not have more than ${FILTERS_MAX} filters in all`);
  for (const each of conditions) {
    if (each.kind === 'compare' && kind === undefined && each.property !== KEY)
      throw invalid('kind', `must be set for a filter on "${each.property}"`);
    if (each.kind === 'ancestor' && each.partition !== partition)
      throw invalid('filter', 'the ancestor lies in another namespace than the query');
  }
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

/** True if the query projects its keys, the only projection there is. */
function isKeysOnly({ projection }: Query): boolean {
  const names = projection.map(({ property }, place) => inside(`projection[${place}]`, () => propertyName(property)));
  if (names.some((name) => name !== KEY)) throw unsupported('projection: of properties');
  if (names.length > 1) throw invalid('projection', 'must not name a property twice');
  return names.length === 1;
}

/** Properties with inequalities order the results too, if the query does not say it itself. */
function orderedBy(given: readonly Order[], conditions: readonly Condition[]): Order[] {
  const named = new Set(given.map(({ property }) => property));
  if (named.has(KEY)) return [...given];
  const unequal = new Set(conditions.filter(isInequality).map(({ property }) => property));
  const descending = given.at(-1)?.descending ?? false;
  const missing = [...unequal].sort().filter((name) => !named.has(name) && name !== KEY);
  return [...given, ...missing.map((property) => ({ property, descending }))];
}

function keyRange(conditions: readonly Condition[]): Pick<Plan, 'from' | 'to'> {
  let from = '';
  let to: string | undefined;
  const raise = (bound: string) => {
    if (bound > from) from = bound;
  };
  const lower = (bound: string) => {
    if (to === undefined || bound < to) to = bound;
  };
  for (const each of conditions) {
    if (each.kind === 'ancestor') {
      raise(each.order);
      lower(afterDescendants(each.order));
    } else if (each.property === KEY) {
      const order = (each.value.content as string).split('\n').slice(3).join('\n');
      if (each.test !== '<' && each.test !== '<=') raise(order);
      if (each.test === '<') lower(order);
      else if (each.test === '<=' || each.test === '=') lower(`${order}\0`);
    }
  }
  return { from, to };
}
