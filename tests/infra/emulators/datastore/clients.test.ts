// A client that nobody here wrote, on the embedded server: the high-level one for Node.js.
import { Datastore, PropertyFilter } from '@google-cloud/datastore';
import { expect, inject, test } from 'vitest';
import { freshKind } from './service.ts';

process.env['DATASTORE_EMULATOR_HOST'] = inject('embeddedEndpoint').replace('http://', '');
const client = new Datastore({ projectId: 'plain' });

test('the high-level client puts, gets, queries and deletes', async () => {
  const kind = freshKind();
  const key = client.key([kind, 'a']);
  await client.save({ key, data: { name: 'Ada', visits: 1, isNew: true } });
  expect((await client.get(key))[0]).toMatchObject({ name: 'Ada', visits: 1, isNew: true });
  const query = client.createQuery(kind).filter(new PropertyFilter('__key__', '>=', key));
  expect((await client.runQuery(query))[0]).toHaveLength(1);
  await client.delete(key);
  expect((await client.get(key))[0]).toBeUndefined();
});

test('the high-level client reads a query of more than one batch', async () => {
  const kind = freshKind();
  await client.save(Array.from({ length: 400 }, (_, id) => ({ key: client.key([kind, id + 1]), data: { id } })));
  expect((await client.runQuery(client.createQuery(kind).order('__key__')))[0]).toHaveLength(400);
});

test('the high-level client runs a transaction', async () => {
  const key = client.key([freshKind(), 'a']);
  await client.insert({ key, data: { visits: 1 } });
  const transaction = client.transaction();
  await transaction.run();
  const [found] = await transaction.get(key);
  transaction.save({ key, data: { visits: (found as { visits: number }).visits + 1 } });
  await transaction.commit();
  expect((await client.get(key))[0]).toMatchObject({ visits: 2 });
});
