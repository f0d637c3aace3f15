// Google's high-level client on the embedded server: beside this, the comparison's tests use it.
import { Datastore } from '@google-cloud/datastore';
import { expect, inject, test } from 'vitest';
import { freshKind } from './service.ts';

test('the high-level client reads a query of more than one batch', async () => {
  process.env['DATASTORE_EMULATOR_HOST'] = inject('embeddedEndpoint').replace('http://', '');
  const client = new Datastore({ projectId: 'plain' });
  const kind = freshKind();
  await client.save(Array.from({ length: 400 }, (_, id) => ({ key: client.key([kind, id + 1]), data: { id } })));
  expect((await client.runQuery(client.createQuery(kind).order('__key__')))[0]).toHaveLength(400);
});
