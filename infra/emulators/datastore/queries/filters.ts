// Filters of a query: checked, brought into one form, and applied to an entity.
import { type Database, isReserved, KEY, parseKey } from '../entities/keys.ts';
import { compareValues, elementsOf, type IndexValue, indexValues, keyInside } from '../entities/value-order.ts';
import { checkValue, FIELD, outermost } from '../entities/values.ts';
import { FILTERS_MAX, NOT_IN_VALUES_MAX } from '../wire/limits.ts';
import { enumValue, type Filter, type PropertyReference } from '../wire/protocol.ts';
import { inside, invalid } from '../wire/status.ts';
import { WireReader } from '../wire/wire.ts';

/** A filter in its one form: IN is an OR of equals, NOT_IN an AND of unequals. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'compare'; readonly property: string; readonly test: Test; readonly value: IndexValue }
  | { readonly kind: 'ancestor'; readonly partition: string; readonly order: string };

export type Test = '<' | '<=' | '>' | '>=' | '=' | '!=';

/** The values of an entity's property as indexes hold them. */
export type ValuesOf = (property: string) => readonly IndexValue[];

const OP = (name: string) => enumValue('PropertyFilter.Operator', name);
const TESTS = new Map<number, Test>([
  [OP('LESS_THAN'), '<'],
  [OP('LESS_THAN_OR_EQUAL'), '<='],
  [OP('GREATER_THAN'), '>'],
  [OP('GREATER_THAN_OR_EQUAL'), '>='],
  [OP('EQUAL'), '='],
  [OP('NOT_EQUAL'), '!='],
]);
const IN = OP('IN');
const NOT_IN = OP('NOT_IN');
const HAS_ANCESTOR = OP('HAS_ANCESTOR');
const AND = enumValue('CompositeFilter.Operator', 'AND');
const OR = enumValue('CompositeFilter.Operator', 'OR');

/** Throws INVALID_ARGUMENT naming the field below the filter. */
export function conditionOf(filter: Filter, database: Database): Condition {
  const count = { left: FILTERS_MAX };
  return read(filter, database, count);
}

function read(filter: Filter, database: Database, count: { left: number }): Condition {
  count.left -= 1;
  if (count.left < 0) throw invalid('', `must not have more than ${FILTERS_MAX} filters in all`);
  if (filter.filterType === 'propertyFilter')
    return inside('property_filter', () => readProperty(filter.propertyFilter, database));
  if (filter.filterType === undefined)
    throw invalid('filter_type', 'one of composite_filter and property_filter must be set');
  const { op, filters } = filter.compositeFilter;
  return inside('composite_filter', () => {
    if (op !== AND && op !== OR) throw invalid('op', 'must be AND or OR');
    if (filters.length === 0) throw invalid('filters', 'must have at least one filter');
    const conditions = filters.map((each, place) => inside(`filters[${place}]`, () => read(each, database, count)));
    return { kind: op === AND ? 'and' : 'or', conditions };
  });
}

function readProperty({ property, op, value }: Filter['propertyFilter'], database: Database): Condition {
  const name = propertyName(property);
  if (value === null) throw invalid('value', 'must be set');
  inside('value', () => checkFilterValue(value, database));
  if (op === HAS_ANCESTOR) return ancestor(name, value, database);
  const compare = (test: Test, encoded: Buffer): Condition => ({
    kind: 'compare',
    property: name,
    test,
    value: inside('value', () => singleValue(name, encoded, database)),
  });
  const test = TESTS.get(op);
  if (test !== undefined) return compare(test, value);
  if (op !== IN && op !== NOT_IN) throw invalid('op', `${op} is not one of its values`);
  const elements = inside('value', () => arrayElements(value));
  if (op === NOT_IN && elements.length > NOT_IN_VALUES_MAX)
    throw invalid('value', `NOT_IN takes at most ${NOT_IN_VALUES_MAX} values`);
  return op === IN
    ? { kind: 'or', conditions: elements.map((each) => compare('=', each)) }
    : { kind: 'and', conditions: elements.map((each) => compare('!=', each)) };
}

/** The name in a reference, which must be there. */
export function propertyName(property: PropertyReference | null): string {
  if (property === null || property.name === '') throw invalid('property.name', 'must not be empty');
  if (property.name !== KEY && isReserved(property.name))
    throw invalid('property.name', `"${property.name}" is reserved`);
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

function arrayElements(value: Buffer): Buffer[] {
  const reader = new WireReader(value);
  let elements: Buffer[] = [];
  while (reader.next()) if (reader.field === FIELD.array) elements = elementsOf(reader.message());
  if (elements.length === 0) throw invalid('array_value', 'must be an array with at least one value');
  return elements;
}

/** True if the filter accepts an entity with these values and this key. */
export function holds(condition: Condition, valuesOf: ValuesOf, order: string): boolean {
  if (condition.kind === 'compare')
    return valuesOf(condition.property).some((value) => passes(condition.test, value, condition.value));
  if (condition.kind === 'ancestor') return order.startsWith(condition.order);
  const { kind, conditions } = condition;
  if (kind === 'or') return conditions.some((each) => holds(each, valuesOf, order));
  return (
    conditions.every((each) => isInequality(each) || holds(each, valuesOf, order)) && rangesHold(conditions, valuesOf)
  );
}

/** One and the same value of a property must satisfy all its inequalities. */
function rangesHold(conditions: readonly Condition[], valuesOf: ValuesOf): boolean {
  const properties = new Set(conditions.filter(isInequality).map(({ property }) => property));
  return [...properties].every((property) => valuesOf(property).some((value) => inRange(conditions, property, value)));
}

/** True if a value of a property satisfies all inequalities on it that are joined by AND. */
export function inRange(conditions: readonly Condition[], property: string, value: IndexValue): boolean {
  return conditions.every(
    (each) => !isInequality(each) || each.property !== property || passes(each.test, value, each.value),
  );
}

type Comparison = Extract<Condition, { kind: 'compare' }>;

export function isInequality(condition: Condition): condition is Comparison {
  return condition.kind === 'compare' && condition.test !== '=';
}

function passes(test: Test, value: IndexValue, bound: IndexValue): boolean {
  return PASSES[test](compareValues(value, bound));
}

const PASSES: Readonly<Record<Test, (compared: number) => boolean>> = {
  '<': (compared) => compared < 0,
  '<=': (compared) => compared <= 0,
  '>': (compared) => compared > 0,
  '>=': (compared) => compared >= 0,
  '=': (compared) => compared === 0,
  '!=': (compared) => compared !== 0,
};

/** All comparisons of a filter, however deep. */
export function comparisonsOf(condition: Condition): Comparison[] {
  if (condition.kind === 'compare') return [condition];
  return condition.kind === 'ancestor' ? [] : condition.conditions.flatMap(comparisonsOf);
}

/** Comparisons that must all hold: those joined by AND at the top. */
export function conjunctsOf(condition: Condition | undefined): readonly Condition[] {
  if (condition === undefined) return [];
  return condition.kind === 'and' ? condition.conditions.flatMap((each) => conjunctsOf(each)) : [condition];
}
