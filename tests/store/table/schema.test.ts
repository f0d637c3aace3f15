// Tables with a Standard Schema: zod's, and one by hand that answers as zod's cannot.
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { DELETE, type StandardSchema, type Table } from '../../../shared/store/index.ts';
import { newStore } from '../../support/opened.ts';

function schemaOf(validate: StandardSchema<string>['~standard']['validate']): StandardSchema<string> {
  return { '~standard': { version: 1, vendor: 'test', validate } };
}

const Order = z.object({
  items: z.array(z.object({ price: z.number() })),
  placed: z.string().transform((text) => new Date(text)),
  state: z.enum(['open', 'paid']).default('open'),
});

test('a schema names the types: its input is put, its output comes back', async () => {
  const orders = await newStore().table('orders', { schema: Order, order: 'key', ttlMs: 60_000 });
  expectTypeOf(orders).toEqualTypeOf<Table<z.output<typeof Order>, z.input<typeof Order>>>();
  await orders.put('a', { items: [{ price: 1 }], placed: '2026-11-23' });
  const found = await orders.get('a');
  expectTypeOf(found!.value.placed).toEqualTypeOf<Date>();
  expect(found?.value).toEqual({ items: [{ price: 1 }], placed: new Date('2026-11-23'), state: 'open' });
});

test('what the schema refuses fails by its place and with its issues, in each verb, and is not written', async () => {
  const store = newStore();
  const orders = await store.table('orders', { schema: Order });
  const good = { items: [], placed: '2026-11-23' };
  const bad = { items: [{ price: 1 }, { price: '2' as unknown as number }], placed: 5 as unknown as string };
  const told = { code: 'invalid', table: 'orders', key: 'a', cause: [{}, {}] };
  const why = /^the schema refuses value\.items\[1\]\.price: .*expected number.* \(1 more in the cause\)/;
  for (const call of [() => orders.put('a', bad), () => orders.update('a', () => bad)]) {
    await expect(call()).rejects.toMatchObject(told);
    await expect(call()).rejects.toThrow(why);
  }
  const [put, other] = await orders.putMany([
    { key: 'a', value: bad },
    { key: 'b', value: good },
  ]);
  expect(put).toMatchObject({ status: 'failed', error: told });
  expect(other?.status).toBe('written');
  const [updated] = await orders.updateMany([{ key: 'a', change: () => bad }]);
  expect(updated).toMatchObject({ status: 'failed', error: told });
  expect(await orders.has('a')).toBe(false);
  expect(await orders.update('b', () => DELETE)).toBeUndefined();
  // What was stored without the schema is read as it is.
  await (await store.table('orders')).put('a', 'of before');
  expect((await orders.get('a'))?.value).toBe('of before');
});

test('an asynchronous schema is a TypeError, leaves no rejection behind, and nothing is written', async () => {
  const schema = schemaOf(() => Promise.reject(new Error('nobody waits for this')));
  const table = await newStore().table('things', { schema });
  const calls = [
    () => table.put('a', 'v'),
    () => table.putMany([{ key: 'a', value: 'v' }]),
    () => table.update('a', () => 'v'),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow(TypeError);
  expect(await table.has('a')).toBe(false);
});

test('a value that a schema meets asynchronously behind written ones fails alone: the call says what it wrote', async () => {
  const schema = schemaOf((value) => (value === 'v' ? { value } : Promise.resolve({ value: '' })));
  const table = await newStore().table('things', { schema });
  const equalKeys = ['v', 'w'].map((value) => ({ key: 'a', value }));
  const [written, failed] = await table.putMany(equalKeys);
  expect(written).toMatchObject({ status: 'written', key: 'a' });
  const error = { code: 'invalid', key: 'a', cause: expect.any(TypeError) as TypeError };
  expect(failed).toMatchObject({ status: 'failed', error });
  expect((await table.get('a'))?.value).toBe('v');
});

test('an issue may name its place by segments, symbols and odd names, or not at all', async () => {
  const paths = [[{ key: 'a b' }, 0, Symbol('s'), 'c'], undefined];
  for (const path of paths) {
    const schema = schemaOf(() => ({ issues: [{ message: 'no', path }] }));
    const table = await newStore().table('things', { schema });
    const place = path === undefined ? 'value' : 'value["a b"][0][Symbol(s)].c';
    await expect(table.put('k', 'v')).rejects.toThrow(`the schema refuses ${place}: no table=things`);
  }
});

test('a schema that is a function is taken, and one of another standard is not', async () => {
  const schema = Object.assign(() => true, Order);
  const orders = await newStore().table('orders', {
    schema: Object.assign(schema, { '~standard': Order['~standard'] }),
  });
  await expect(orders.put('a', { items: [], placed: 5 as unknown as string })).rejects.toThrow('value.placed');
  for (const wrong of [{}, { parse: () => 1 }, { '~standard': { version: 2, validate: () => 1 } }]) {
    const opening = newStore().table('orders', { schema: wrong as unknown as StandardSchema });
    await expect(opening).rejects.toThrow('store.table: schema must be a Standard Schema, such as zod makes');
  }
});
