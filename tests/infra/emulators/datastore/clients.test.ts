// Google’s high-level client on the embedded server.
import { Datastore } from '@google-cloud/datastore';
import { expect, inject, test } from 'vitest';
import { freshKind } from './protocol-service.ts';

const client = new Datastore({ projectId: 'plain', apiEndpoint: inject('embeddedEndpoint') });

test('an ordinary entity of the high-level client is stored and comes back, under an id it is given', async () => {
  const kind = freshKind();
  const author = client.key(['Author', 'Zoë']);
  const data = {
    at: new Date('2026-11-21T12:00:00.123Z'),
    tags: ['a', 1, null, { deep: [true] }],
    place: client.geoPoint({ latitude: 52.5, longitude: 13.4 }),
    nothing: null,
    bytes: Buffer.from([0, 255]),
    nested: { when: new Date(0), more: { half: 0.5 } },
    author,
  };
  const entity = { key: client.key([kind]), data };
  await client.save(entity);
  expect(entity.key.id).toMatch(/^\d+$/);
  const [found] = await client.get(entity.key);
  expect(found).toEqual({ ...data, place: data.place.value, [Datastore.KEY]: expect.anything() });
  expect(found.author.path).toEqual(author.path);

  const child = { key: client.key([kind, 'parent', kind]), data: { n: 1 } };
  const transaction = client.transaction();
  await transaction.run();
  transaction.save(child);
  await transaction.commit();
  expect((await client.get(child.key))[0]).toMatchObject({ n: 1 });

  const [keys] = await client.allocateIds(client.key([kind]), 2);
  await client.save(keys.map((key, n) => ({ key, data: { n } })));
  expect((await client.get(keys))[0]).toHaveLength(2);
});
