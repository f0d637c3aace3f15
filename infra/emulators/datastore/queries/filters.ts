// Filters of a query, all joined by AND: checked, and applied to an entity.
import { checkPath, type Database, KEY, parseKey } from '../entities/keys.ts';
import { compareValues, type IndexValue, indexValues, keyInside } from '../entities/value-order.ts';
import { checkValue, FIELD, outermost } from '../entities/values.ts';
import { enumValue, type Filter, type PropertyReference } from '../wire/protocol.ts';
import { inside, invalid, unsupported } from '../wire/status.ts';
import { WireReader } from '../wire/wire.ts';

export type Condition =
  | { readonly kind: 'compare'; readonly property: string; readonly test: Test; readonly value: IndexValue }
  | { readonly kind: 'ancestor'; readonly partition: string; readonly order: string };

export type Test = '<' | '<=' | '>' | '>=' | '=';

/** The values of an entity's property as indexes hold them. */
export type ValuesOf = (property: string) => readonly IndexValue[];

const OP = (name: string) => enumValue('PropertyFilter.Operator', name);
const TESTS = new Map<number, Test>([
  [OP('LESS_THAN'), '<'],
  [OP('LESS_THAN_OR_EQUAL'), '<='],
  [OP('GREATER_THAN'), '>'],
  [OP('GREATER_THAN_OR_EQUAL'), '>='],
  [OP('EQUAL'), '='],
]);
const UNSUPPORTED = new Set(['NOT_EQUAL', 'IN', 'NOT_IN'].map(OP));
const HAS_ANCESTOR = OP('HAS_ANCESTOR');
const AND = enumValue('CompositeFilter.Operator', 'AND');
const OR = enumValue('CompositeFilter.Operator', 'OR');

/** Throws INVALID_ARGUMENT or UNIMPLEMENTED naming the field below the filter. */
export function conditionsOf(filter: Filter, database: Database): Condition[] {
  if (filter.filterType === 'propertyFilter')
    return [inside('property_filter', () => readProperty(filter.propertyFilter, database))];
  if (filter.filterType === undefined)
    throw invalid('filter_type', 'one of composite_filter and property_filter must be set');
  const { op, filters } = filter.compositeFilter;
  return inside('composite_filter', () => {
    if (op === OR) throw unsupported('op: OR');
    if (op !== AND) throw invalid('op', 'must be AND');
    if (filters.length === 0) throw invalid('filters', 'must have at least one filter');
    return filters.flatMap((each, place) => inside(`filters[${place}]`, () => conditionsOf(each, database)));
  });
}

function readProperty({ property, op, value }: Filter['propertyFilter'], database: Database): Condition {
  const name = propertyName(property);
  if (value === null) throw invalid('value', 'must be set');
  inside('value', () => checkFilterValue(value, database));
  if (op === HAS_ANCESTOR) return ancestor(name, value, database);
  if (UNSUPPORTED.has(op)) throw unsupported('op: NOT_EQUAL, IN and NOT_IN');
  const test = TESTS.get(op);
  if (test === undefined) throw invalid('op', `${op} is not one of its values`);
  return { kind: 'compare', property: name, test, value: inside('value', () => singleValue(name, value, database)) };
}

/** The name in a reference, which must be there. */
export function propertyName(property: PropertyReference | null): string {
  if (property === null || property.name === '') throw invalid('property.name', 'must not be empty');
  checkPath(property.name, 'property.name');
  return property.name;
}

function ancestor(property: string, value: Buffer, database: Database): Condition {
  const key = keyInside(value);
  if (property !== KEY) throw invalid('property.name', `must be ${KEY} for HAS_ANCESTOR`);
  if (key === undefined) throw invalid('value', 'must be a key for HAS_ANCESTOR');
  const { partition, order } = inside('value.key_value', () => parseKey(key, database, { reserved: 'allowed' }));
  return { kind: 'ancestor', partition, order };
}

function checkFilterValue(value: Buffer, database: Database): void {
  checkValue(new WireReader(value), outermost(database));
  const reader = new WireReader(value);
  while (reader.next()) {
    if (reader.field === FIELD.excludeFromIndexes && reader.flag())
      throw invalid('exclude_from_indexes', 'must not be set: only what is indexed can be found');
  }
}

function singleValue(property: string, encoded: Buffer, database: Database): IndexValue {
  const reader = new WireReader(encoded);
  while (reader.next()) {
    if (reader.field === FIELD.array) throw invalid('array_value', 'is not allowed with this operator');
    if (reader.field === FIELD.entity) throw invalid('entity_value', 'is not allowed in a filter');
  }
  if (property === KEY && keyInside(encoded) === undefined) throw invalid('', `must be a key for ${KEY}`);
  const [value] = indexValues(encoded, database);
  if (value === undefined) throw invalid('', 'has no value set');
  return value;
}

/** True if an entity with these values and this key meets all conditions. */
export function holds(conditions: readonly Condition[], valuesOf: ValuesOf, order: string): boolean {
  return conditions.every((each) => {
    if (each.kind === 'ancestor') return order.startsWith(each.order);
    // One and the same value must satisfy all inequalities on its property.
    return valuesOf(each.property).some((value) =>
      each.test === '=' ? passes(each, value) : inRange(conditions, each.property, value),
    );
  });
}

/** True if a value of a property satisfies all inequalities on it. */
export function inRange(conditions: readonly Condition[], property: string, value: IndexValue): boolean {
  return conditions.every((each) => !isInequality(each) || each.property !== property || passes(each, value));
}

type Comparison = Extract<Condition, { kind: 'compare' }>;

export function isInequality(condition: Condition): condition is Comparison {
  return condition.kind === 'compare' && condition.test !== '=';
}

function passes({ test, value: bound }: Comparison, value: IndexValue): boolean {
  const compared = compareValues(value, bound);
  if (compared === 0) return test.endsWith('=');
  return test.startsWith(compared < 0 ? '<' : '>');
}
