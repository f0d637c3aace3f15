// Clients that nobody here wrote, on the embedded server: the high-level Node client, and Google's
// two for Python.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Datastore, PropertyFilter } from '@google-cloud/datastore';
import { describe, expect, inject, test } from 'vitest';
import { freshKind } from './service.ts';

const host = inject('embeddedEndpoint').replace('http://', '');
const python = process.env['STOWAGE_PYTHON'] ?? '';
const SCRIPT = fileURLToPath(new URL('python/clients.py', import.meta.url));
const SCRIPT_TIMEOUT_MS = 60_000;

process.env['DATASTORE_EMULATOR_HOST'] = host;
const client = new Datastore({ projectId: 'plain' });

test('the high-level client puts, gets, queries and deletes', async () => {
  const kind = freshKind();
  const key = client.key([kind, 'a']);
  await client.save({ key, data: { name: 'Ada', visits: 1, tags: ['x', 'y'], since: new Date(0) } });
  expect((await client.get(key))[0]).toMatchObject({ name: 'Ada', visits: 1, tags: ['x', 'y'], since: new Date(0) });
  const query = client.createQuery(kind).filter(new PropertyFilter('tags', '=', 'y'));
  expect((await client.runQuery(query))[0]).toHaveLength(1);
  await client.delete(key);
  expect((await client.get(key))[0]).toBeUndefined();
});

test('the high-level client reads a query of more than one batch', async () => {
  const kind = freshKind();
  await client.save(Array.from({ length: 400 }, (_, id) => ({ key: client.key([kind, id + 1]), data: { id } })));
  expect((await client.runQuery(client.createQuery(kind).order('id')))[0]).toHaveLength(400);
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

test.skipIf(process.env['CI'] === undefined)('in continuous integration there is a Python with both clients', () => {
  expect(python).not.toBe('');
});

describe.skipIf(python === '')('google-cloud-datastore and google-cloud-ndb', () => {
  test(
    'put, get, query and run transactions',
    async () => {
      const env = { ...process.env, DATASTORE_EMULATOR_HOST: host, DATASTORE_DATASET: 'python' };
      const { stdout } = await promisify(execFile)(python, [SCRIPT], { env, timeout: SCRIPT_TIMEOUT_MS });
      expect(stdout.trim()).toBe('ok');
    },
    SCRIPT_TIMEOUT_MS,
  );
});
