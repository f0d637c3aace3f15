// Plain entities become records, are copied to the other cloud, and come back as they were.
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { adopt, type AdoptState, compareWith } from '../../../infra/cli/data/plain-commands.ts';
import { plainAt, storeAt } from '../../../infra/cli/data/address.ts';
import { encodedTable } from '../../../infra/cli/data/copy.ts';
import { azureEntity } from '../../../infra/plain/azure-rows.ts';
import { datastorePlace, entityOf } from '../../../infra/plain/datastore-entities.ts';
import type { PlainPlace } from '../../../infra/plain/plain-place.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { testFolder } from '../../support/folder.ts';
import { onBothClouds, onDatastore, stowage } from '../cli/run-command.ts';
import {
  azureTable,
  datastoreClient,
  entitiesIn,
  PROJECT,
  rowsIn,
  writeEntities,
  writeRows,
} from './plain-entities.ts';

/** Several pages on both clouds. 100,000 take four minutes. */
const COUNT = Number(process.env['STOWAGE_PLAIN_ENTITIES'] ?? 700);

test.each(['gcp', 'azure'] as const)(
  'entities of every type on %s are adopted, copied to the other cloud and released as they were',
  { timeout: 900_000 },
  async (cloud) => {
    const env = await onBothClouds();
    const cwd = await testFolder();
    const client = datastoreClient(env['DATASTORE_EMULATOR_HOST']!);
    const tableAt = (name: string) => azureTable(env['STOWAGE_TABLES_ENDPOINT']!, env['STOWAGE_TABLES_KEY']!, name);
    await (cloud === 'gcp' ? writeEntities(client, 'every', COUNT) : writeRows(tableAt('every'), COUNT));
    const storedIn = (name: string) => (cloud === 'gcp' ? entitiesIn(client, name) : rowsIn(tableAt(name)));
    const plain = cloud === 'gcp' ? `gcp://${PROJECT}/kind:` : 'azure://devstoreaccount1/table:';
    const stores = [`gcp://${PROJECT}?kind=Every-${cloud}`, 'azure://devstoreaccount1/store'];
    const [here = '', there = ''] = cloud === 'gcp' ? stores : stores.toReversed();
    const run = async (command: string, ...args: string[]) =>
      expect(await stowage([command, 'every', ...args], { env, cwd })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Both hold the same ${COUNT} records`) as string,
      });
    await run('adopt', '--plain', `${plain}every`, '--to', here);
    await run('copy', '--from', here, '--to', there);
    const createTable = cloud === 'azure' ? ['--create-table'] : [];
    await run('release', '--from', there, '--plain', `${plain}back`, ...createTable);
    const before = await storedIn('every');
    expect(before).toHaveLength(COUNT);
    expect(before[0]).toContain(cloud === 'gcp' ? '"doubleValue":9' : '["whole","number 3.0"]');
    expect(await storedIn('back')).toEqual(before);
  },
);

const PLAIN = `gcp://${PROJECT}/kind:Small`;
const STORE = `gcp://${PROJECT}?kind=Small-store`;

test('an adoption that was stopped goes on from its last page, and forgets where it was once it is done', async () => {
  const env = onDatastore();
  const cwd = await testFolder();
  const client = datastoreClient(env['DATASTORE_EMULATOR_HOST']!);
  await writeEntities(client, 'Stopped', COUNT);
  const place = datastorePlace(
    client,
    { projectId: PROJECT, databaseId: '', namespace: '', kind: 'Stopped', ancestor: undefined },
    { key: undefined, where: undefined },
  );
  const store = openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  const states: AdoptState[] = [];
  const onState = async (state: AdoptState): Promise<void> => {
    if (states.length === 2) throw new Error('stopped by the test');
    states.push(state);
  };
  const options = { place, store, table: 'stopped', order: 'hash' as const, signal: new AbortController().signal };
  await expect(adopt({ ...options, state: undefined, onState })).rejects.toThrow('stopped by the test');
  const state = states.at(-1)!;
  expect(state.records).toBeLessThan(COUNT);
  expect(await adopt({ ...options, state, onState: () => Promise.resolve() })).toBe(COUNT);
  const table = await encodedTable(store, 'stopped', { create: false });
  expect(await compareWith(place, table, options.signal)).toMatchObject({ isSame: true, entities: COUNT });
  const command = ['adopt', 'stopped', '--plain', `gcp://${PROJECT}/kind:Stopped`, '--to', STORE];
  const file = path.join(cwd, 'stopped.adopt.json');
  await writeFile(file, JSON.stringify({ of: ['another'], state: { records: 5 } }));
  expect(await stowage(command, { env, cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--state') as string,
  });
  await rm(file);
  expect(await stowage(command, { env, cwd })).toMatchObject({ code: 0 });
  expect(await readdir(cwd)).toEqual([]);
});

test('an adoption saves no state behind a page that failed, although that behind it is put', async () => {
  const store = openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  const table = await store.table('t');
  const place: PlainPlace = {
    async *pages() {
      for (const key of ['a', 'b']) yield { records: [{ key, value: {} }], cursor: key };
    },
    put: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const saved: unknown[] = [];
  const onState = async ({ cursor }: AdoptState): Promise<void> => {
    while ((await table.get('b')) === undefined) continue;
    if (cursor === 'a') throw new Error('stopped by the test');
    saved.push(cursor);
  };
  const signal = new AbortController().signal;
  const adopting = adopt({ place, store, table: 't', order: 'hash', state: undefined, onState, signal });
  await expect(adopting).rejects.toThrow('stopped by the test');
  expect(saved).toEqual([]);
});

test('a comparison names what is missing and what differs, and says when keys fall together', async () => {
  const env = onDatastore();
  const cwd = await testFolder();
  const client = datastoreClient(env['DATASTORE_EMULATOR_HOST']!);
  await writeEntities(client, 'Small', 12);
  const put = ['adopt', 'small', '--plain', PLAIN, '--to', STORE, '--key', 'user-{path}'];
  expect(await stowage(put, { env, cwd })).toMatchObject({ code: 0 });
  const compare = ['compare-with', 'small', '--from', STORE, '--plain', PLAIN, '--key', 'user-{path}'];
  expect(await stowage(compare, { env, cwd })).toMatchObject({ code: 0 });
  await stowage(['put', 'small', 'user-name 3', '{"count":4}', '--from', STORE], { env, cwd });
  await stowage(['delete', 'small', 'user-name 7', '--from', STORE], { env, cwd });
  const differing = await stowage(compare, { env, cwd });
  expect(differing.code).toBe(1);
  expect(differing.stdout).toContain('12 entities');
  expect(differing.stdout).toContain('"user-name 3", "user-name 7"');
  // A name of digits beside the id of the same digits.
  const key = { partitionId: { projectId: PROJECT }, path: [{ kind: 'Small', name: '6' }] };
  const upsert = { key, properties: { isOdd: { booleanValue: true } } };
  await client.commit({ projectId: PROJECT, mode: 'NON_TRANSACTIONAL', mutations: [{ upsert }] });
  for (const [table = '', ...template] of [['digits'], ['together', '--key', 'all-{isOdd}']])
    expect(await stowage(['adopt', table, '--plain', PLAIN, '--to', STORE, ...template], { env, cwd })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('give another --key') as string,
    });
});

const TAKES = 'takes gcp://PROJECT/kind:KIND';
const TEMPLATE = 'no template of keys';

test.each([
  ['gcp://p/kind:', TAKES],
  ['azure://a/kind:K', TAKES],
  ['azure://a/table:T?x=1', 'takes no parameters'],
  ['gcp://p/kind:K?ancestor=Tenant', 'KIND/ID'],
  [PLAIN, TEMPLATE, 'user'],
  [PLAIN, TEMPLATE, '{a}}'],
])('plain entities at %s are refused: it says %s', async (plain, why, key = '{path}') => {
  const command = ['adopt', 't', '--plain', plain, '--to', STORE, '--key', key];
  const refused = await stowage(command, { env: onDatastore() });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(why) as string });
});

const AZURE_REFUSES = [
  [{ none: null }, 'none: null has no type in Azure Tables'],
  [{ list: [1] }, 'list: a list has no type'],
  [{ deep: {} }, 'deep: an object has no type'],
  [{ Timestamp: 1 }, 'Timestamp: Azure Tables keeps this name'],
  [{ when: '2024-01-01T00:00:00.123456789Z', $plain: { types: { when: 'timestamp' } } }, 'finer than the 100 ns'],
  [{ $plain: { types: { a: 'float' } } }, '$plain is not as adopt writes it'],
  ['text', 'its value is no object'],
] as const;

test.each(AZURE_REFUSES)('Azure Tables cannot hold %j, which is said of the property', (value, why) => {
  expect(() => azureEntity(value, 'p', 'r')).toThrow(why);
});

const DATASTORE_REFUSES = [
  [{ list: [[1]] }, 'list: Datastore keeps no list within a list'],
  [{ big: 2n ** 63n }, 'big: 9223372036854775808 is beyond 64 bits'],
  [{ set: new Set() }, 'set: its value is no object'],
  [{ when: '2024-01-01T00:00:00.1234567Z', $plain: { types: { when: 'timestamp' } } }, 'finer than the microseconds'],
  [{ other: ['User'], $plain: { types: { other: 'key' } } }, 'other: a key takes kinds and identifiers in turns'],
] as const;

test.each(DATASTORE_REFUSES)('Datastore cannot hold %o, which is said of the property', (value, why) => {
  const home = { projectId: 'p', databaseId: '', namespaceId: '' };
  expect(() => entityOf(value, undefined, home)).toThrow(why);
});

/** A program that changes over: it writes an entity, a record, or both, and reads one of them. */
interface Program {
  readonly writes: readonly ('entity' | 'record')[];
  readonly reads: 'entity' | 'record';
}

test.each(['gcp', 'azure'] as const)(
  'on %s a program changes over and back in the steps of the README, and always reads what it wrote',
  async (cloud) => {
    const env = await onBothClouds();
    const cwd = await testFolder();
    const rows = azureTable(env['STOWAGE_TABLES_ENDPOINT']!, env['STOWAGE_TABLES_KEY']!, 'users');
    if (cloud === 'azure') await rows.createTable();
    const plain = cloud === 'gcp' ? `gcp://${PROJECT}/kind:Over` : 'azure://devstoreaccount1/table:users';
    const at = cloud === 'gcp' ? `gcp://${PROJECT}?kind=Over-store` : 'azure://devstoreaccount1/store';
    const asked = { ask: () => Promise.reject(new Error('no tool is asked')), env };
    const place = await plainAt(
      '--plain',
      plain,
      { key: undefined, where: undefined },
      { ...asked, createTable: false },
    );
    const store = storeAt('--to', at, { ...asked, createTable: true });
    onTestFinished(async () => void (await Promise.all([place.close(), store.close()])));
    const table = await store.table<{ visits: number }>('users');
    const signal = new AbortController().signal;
    const keys = ['a/1', 'a/2', 'b/1'].map((key) => (cloud === 'gcp' ? key.replace('/', '-') : key));
    let visits = 0;
    const visit = async ({ writes, reads }: Program): Promise<void> => {
      visits += 1;
      for (const key of keys) {
        if (writes.includes('entity')) await place.put([{ key, value: { visits } }], signal);
        if (writes.includes('record')) await table.put(key, { visits });
        const pages = reads === 'entity' ? await Array.fromAsync(place.pages(undefined, signal)) : [];
        const entity = pages.flatMap(({ records }) => records).find((one) => one.key === key)?.value;
        expect(reads === 'entity' ? entity : (await table.get(key))?.value).toEqual({ visits });
      }
    };
    const run = async (command: string, ...args: string[]) =>
      expect(await stowage([command, 'users', '--plain', plain, ...args], { env, cwd })).toMatchObject({ code: 0 });
    await visit({ writes: ['entity'], reads: 'entity' });
    await place.put([{ key: keys[0]!.replace('1', '9'), value: { visits: 0 } }], signal);
    await visit({ writes: ['entity', 'record'], reads: 'entity' });
    await run('adopt', '--to', at);
    await run('compare-with', '--from', at);
    await visit({ writes: ['entity', 'record'], reads: 'record' });
    await visit({ writes: ['record'], reads: 'record' });
    await run('release', '--from', at);
    await visit({ writes: ['entity'], reads: 'entity' });
  },
);
