// Aggregations over what a query finds.
import { expect } from 'vitest';
import { type Declare, expectCode } from '../declare.ts';
import { CODE, double, integer, key, PROJECT_ID, type Service, text, upsert } from '../service.ts';

type Aggregations = NonNullable<
  NonNullable<Parameters<Service['client']['runAggregationQuery']>[0]>['aggregationQuery']
>;

async function aggregate(service: Service, kind: string, { aggregations, nestedQuery = {} }: Aggregations) {
  const query = { nestedQuery: { kind: [{ name: kind }], ...nestedQuery }, ...(aggregations ? { aggregations } : {}) };
  const [{ batch }] = await service.client.runAggregationQuery({ projectId: PROJECT_ID, aggregationQuery: query });
  const properties = batch!.aggregationResults![0]!.aggregateProperties!;
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      name,
      value.doubleValue ?? (value.integerValue === undefined ? null : Number(value.integerValue)),
    ]),
  );
}

export function aggregationCases(declare: Declare): void {
  declare('entities are counted, up to a bound, within a limit', async (service, kind) => {
    await service.commit([1, 2, 3].map((id) => upsert(key(kind, id))));
    const aggregations = [{ count: {} }, { alias: 'two', count: { upTo: { value: 2 } } }];
    expect(await aggregate(service, kind, { aggregations })).toEqual({ property_1: 3, two: 2 });
    expect(await aggregate(service, kind, { aggregations, nestedQuery: { limit: { value: 1 } } })).toEqual({
      property_1: 1,
      two: 1,
    });
  });

  declare('numbers are summed and averaged, whatever else there is', async (service, kind) => {
    const values = [integer(1), integer(2), text('x')];
    await service.commit(values.map((x, place) => upsert(key(kind, place + 1), { x })));
    const aggregations = [
      { alias: 's', sum: { property: { name: 'x' } } },
      { alias: 'a', avg: { property: { name: 'x' } } },
    ];
    expect(await aggregate(service, kind, { aggregations })).toEqual({ s: 3, a: 1.5 });
  });

  declare('a sum with a double is a double', async (service, kind) => {
    await service.commit([upsert(key(kind, 1), { x: integer(1) }), upsert(key(kind, 2), { x: double(0.5) })]);
    expect(
      await aggregate(service, kind, { aggregations: [{ alias: 's', sum: { property: { name: 'x' } } }] }),
    ).toEqual({ s: 1.5 });
  });

  declare('no aggregation, and more than five, are INVALID_ARGUMENT', async (service, kind) => {
    await expectCode(CODE.invalid, aggregate(service, kind, { aggregations: [] }));
    await expectCode(
      CODE.invalid,
      aggregate(service, kind, { aggregations: Array.from({ length: 6 }, () => ({ count: {} })) }),
    );
  });
}
