// RunAggregationQuery: counts, sums and averages over what a query finds.
import { propertiesOf, valueOf } from '../entities/entities.ts';
import { type Database, isReserved } from '../entities/keys.ts';
import { type IndexValue, indexValues, isNumber } from '../entities/value-order.ts';
import type { Services } from '../storage/services.ts';
import { readAs } from '../storage/transactions.ts';
import { AGGREGATIONS_MAX } from '../wire/limits.ts';
import {
  type Aggregation,
  encoder,
  enumValue,
  type RunAggregationQueryRequest,
  timestampOf,
} from '../wire/protocol.ts';
import { inside, invalid } from '../wire/status.ts';
import { propertyName } from './filters.ts';
import { type Plan, planOf } from './plan.ts';
import { comparePlaces, placeOf, type Row, rowsOf } from './rows.ts';
import { type Bounds, boundsOf, scopeOf, unsupported } from './run-query.ts';

const encodeResponse = encoder('RunAggregationQueryResponse');
const NO_MORE = enumValue('QueryResultBatch.MoreResultsType', 'NO_MORE_RESULTS');

/** A `Value`. */
type Result = { integerValue: string } | { doubleValue: number } | { nullValue: 0 };

export function runAggregation(request: RunAggregationQueryRequest, database: Database, services: Services): Buffer {
  if (request.explainOptions !== null) throw unsupported('explain_options');
  if (request.queryType === 'gqlQuery') throw unsupported('gql_query');
  if (request.queryType === undefined) throw invalid('query_type', 'aggregation_query must be set');
  const { nestedQuery, aggregations } = request.aggregationQuery;
  const { plan, bounds, named } = inside('aggregation_query', () => {
    if (nestedQuery === null) throw invalid('nested_query', 'must be set');
    const plan = inside('nested_query', () => planOf(nestedQuery, request.partitionId, database));
    const bounds = inside('nested_query', () => boundsOf(nestedQuery, plan));
    return { plan, bounds, named: namedAggregations(aggregations) };
  });
  const { transaction, version, began } = readAs(request.readOptions, services.transactions);
  transaction?.readScope(scopeOf(plan, services.storage));
  const rows = rowsWithin(plan, bounds, rowsOf(plan, services.storage, version, bounds.after));
  const aggregateProperties = Object.fromEntries(
    named.map(([name, aggregation]) => [name, resultOf(aggregation, rows, plan)]),
  );
  return encodeResponse({
    batch: {
      aggregationResults: [{ aggregateProperties }],
      moreResults: NO_MORE,
      readTime: timestampOf(version ?? services.storage.lastVersion),
    },
    ...(began === undefined ? {} : { transaction: began }),
  });
}

/** Aggregations by name; those without one are numbered. */
function namedAggregations(aggregations: readonly Aggregation[]): [string, Aggregation][] {
  if (aggregations.length === 0 || aggregations.length > AGGREGATIONS_MAX)
    throw invalid('aggregations', `must be from 1 to ${AGGREGATIONS_MAX}; there are ${aggregations.length}`);
  const seen = new Set<string>();
  let unnamed = 0;
  return aggregations.map((aggregation, place) =>
    inside(`aggregations[${place}]`, () => {
      check(aggregation);
      const name = aggregation.alias === '' ? `property_${(unnamed += 1)}` : aggregation.alias;
      if (isReserved(name)) throw invalid('alias', `"${name}" is reserved`);
      if (seen.has(name)) throw invalid('alias', `"${name}" is there twice`);
      seen.add(name);
      return [name, aggregation] as [string, Aggregation];
    }),
  );
}

function check({ operator, count, sum, avg }: Aggregation): void {
  if (operator === undefined) throw invalid('operator', 'one of count, sum and avg must be set');
  if (operator === 'sum') inside('sum', () => propertyName(sum.property));
  if (operator === 'avg') inside('avg', () => propertyName(avg.property));
  if (operator === 'count' && Number(count.upTo?.value ?? 0) < 0) throw invalid('count.up_to', 'must not be negative');
}

function rowsWithin(plan: Plan, { offset, limit, until }: Bounds, found: Iterable<Row>): Row[] {
  const rows: Row[] = [];
  let skipped = 0;
  for (const row of found) {
    if (rows.length >= limit || (until !== undefined && comparePlaces(plan, placeOf(row), until) > 0)) break;
    if (skipped < offset) skipped += 1;
    else rows.push(row);
  }
  return rows;
}

function resultOf({ operator, count, sum, avg }: Aggregation, rows: readonly Row[], plan: Plan): Result {
  if (operator === 'count') {
    const upTo = count.upTo === null ? Infinity : Number(count.upTo.value);
    return { integerValue: String(Math.min(rows.length, upTo)) };
  }
  const numbers = numbersOf(rows, (operator === 'sum' ? sum : avg).property!.name, plan);
  if (operator === 'sum') return sumOf(numbers);
  if (numbers.length === 0) return { nullValue: 0 };
  return { doubleValue: numbers.reduce((total, { content }) => total + Number(content), 0) / numbers.length };
}

function numbersOf(rows: readonly Row[], property: string, plan: Plan): IndexValue[] {
  return rows.flatMap(({ stored }) => {
    const entry = propertiesOf(stored.entity!).get(property);
    return entry === undefined ? [] : indexValues(valueOf(entry), plan.database).filter(isNumber).slice(0, 1);
  });
}

const INT64_MAX = 2n ** 63n - 1n;

/** An integer as long as all are integers and the sum is one of 64 bits. */
function sumOf(numbers: readonly IndexValue[]): Result {
  let integers = 0n;
  for (const { content } of numbers) {
    if (typeof content !== 'bigint')
      return { doubleValue: numbers.reduce((total, each) => total + Number(each.content), 0) };
    integers += content;
  }
  if (integers > INT64_MAX || integers < -INT64_MAX - 1n) return { doubleValue: Number(integers) };
  return { integerValue: String(integers) };
}
