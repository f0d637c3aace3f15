// The range of a query: entities of one kind, in the order of their keys. Conditions on other
// properties are UNIMPLEMENTED, because this project's clients send none.
import { type Database, KEY, parseKey, partitionOf } from './entities/entity-keys.ts';
import {
  decoder,
  enumValue,
  type Filter,
  type PartitionId,
  type PropertyReference,
  type Query,
} from './wire/protocol.ts';
import { inside, invalid, unsupported } from './wire/rpc-status.ts';

export interface KeyRange {
  readonly partition: string;
  readonly kind: string;
  /** Order strings of keys: what is found lies in [from, to). */
  readonly from: string;
  readonly to: string | undefined;
}

type Bounds = Pick<KeyRange, 'from' | 'to'>;

const decodeValue = decoder('Value');
const OP = (name: string) => enumValue('PropertyFilter.Operator', name);
const AND = enumValue('CompositeFilter.Operator', 'AND');
const DESCENDING = enumValue('PropertyOrder.Direction', 'DESCENDING');

/** The range that each operator makes of a key's order. */
const BOUNDS = new Map<number, (order: string) => Bounds>([
  [OP('LESS_THAN'), (order) => ({ from: '', to: order })],
  [OP('LESS_THAN_OR_EQUAL'), (order) => ({ from: '', to: after(order) })],
  [OP('GREATER_THAN'), (order) => ({ from: after(order), to: undefined })],
  [OP('GREATER_THAN_OR_EQUAL'), (order) => ({ from: order, to: undefined })],
  [OP('EQUAL'), (order) => ({ from: order, to: after(order) })],
]);

/** The least order string behind this one. */
export function after(order: string): string {
  return `${order}\0`;
}

/** Throws INVALID_ARGUMENT that names the field in the query, or UNIMPLEMENTED. */
export function keyRangeOf(query: Query, partitionId: PartitionId | null, database: Database): KeyRange {
  if (query.findNearest !== null) throw unsupported('find_nearest');
  if (query.distinctOn.length > 0) throw unsupported('distinct_on');
  const partition = inside('partition_id', () => partitionOf(partitionId, database));
  checkOrder(query);
  const { filter } = query;
  const bounds = filter === null ? [] : inside('filter', () => boundsOf(filter, partition, database));
  return {
    partition,
    kind: kindOf(query),
    from: bounds.map(({ from }) => from).reduce((one, other) => (one < other ? other : one), ''),
    to: bounds.flatMap(({ to }) => to ?? []).toSorted()[0],
  };
}

/** Whether the query wants keys alone, the only projection that is supported. */
export function isKeysOnly({ projection }: Query): boolean {
  for (const [place, { property }] of projection.entries()) checkIsKey(property, `projection[${place}]`);
  return projection.length > 0;
}

function kindOf({ kind: kinds }: Query): string {
  const [kind] = kinds;
  if (kind === undefined) throw unsupported('kind: none');
  if (kinds.length > 1) throw invalid('kind', 'must not name more than one kind');
  if (kind.name === '') throw invalid('kind[0].name', 'must not be empty');
  if (kind.name.startsWith('__')) throw unsupported(`kind[0].name: queries of ${kind.name}`);
  return kind.name;
}

function checkOrder({ order }: Query): void {
  for (const [place, { property, direction }] of order.entries()) {
    checkIsKey(property, `order[${place}]`);
    if (direction === DESCENDING) throw unsupported(`order[${place}].direction: DESCENDING`);
  }
}

function checkIsKey(property: PropertyReference | null, field: string): void {
  if (property === null || property.name === '') throw invalid(`${field}.property.name`, 'must not be empty');
  if (property.name !== KEY) throw unsupported(`${field}.property.name: other than ${KEY}`);
}

function boundsOf(filter: Filter, partition: string, database: Database): Bounds[] {
  if (filter.filterType === 'propertyFilter')
    return [inside('property_filter', () => boundOf(filter.propertyFilter, partition, database))];
  if (filter.filterType === undefined)
    throw invalid('filter_type', 'one of composite_filter and property_filter must be set');
  const { op, filters } = filter.compositeFilter;
  return inside('composite_filter', () => {
    if (op !== AND) throw unsupported('op: other than AND');
    if (filters.length === 0) throw invalid('filters', 'must have at least one filter');
    return filters.flatMap((each, place) => inside(`filters[${place}]`, () => boundsOf(each, partition, database)));
  });
}

function boundOf({ property, op, value }: Filter['propertyFilter'], partition: string, database: Database): Bounds {
  checkIsKey(property, '');
  const bound = BOUNDS.get(op);
  if (bound === undefined) throw unsupported(`op: ${op}`);
  const { valueType, keyValue } = decodeValue(value ?? Buffer.alloc(0));
  if (valueType !== 'keyValue') throw invalid('value', 'must be a key');
  const key = inside('value.key_value', () => parseKey(keyValue, database, { reserved: 'allowed' }));
  if (key.partition !== partition) throw invalid('value.key_value', 'lies in another namespace than the query');
  return bound(key.order);
}
