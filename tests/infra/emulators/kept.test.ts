// Data in a file: there after the process that wrote it was killed, on both clouds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { expect, onTestFinished, test } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../../infra/emulators/azurite.ts';
import { type Change, openJournal } from '../../../infra/emulators/datastore/storage/journal.ts';
import { insert, integer, key, remove, serviceAt, update } from './datastore/protocol-service.ts';
import { testFolder } from '../../support/folder.ts';

async function newFile(): Promise<string> {
  return path.join(await testFolder(), 'data.bin');
}

const STARTS = {
  datastore: ['which-datastore.ts', "startDatastore('embedded',"],
  'azure-tables': ['azurite.ts', 'startAzurite('],
} as const;

/** The emulator in a process of its own, under one that ends by SIGKILL alone. */
async function startOn(cloud: keyof typeof STARTS, dataFile: string) {
  const [file, start] = STARTS[cloud];
  const url = new URL(`../../../infra/emulators/${file}`, import.meta.url).href;
  const script = `
    const emulators = await import(${JSON.stringify(url)});
    await emulators.${start} { inProcess: false, dataFile: ${JSON.stringify(dataFile)} }).then(({ endpoint }) => console.log(endpoint));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = async (): Promise<void> => {
    const exited = once(child, 'exit');
    if (child.kill('SIGKILL')) await exited;
  };
  onTestFinished(kill);
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { endpoint: line.trim(), kill };
}

test('what Datastore’s emulator has answered is there after SIGKILL', async () => {
  const file = await newFile();
  const first = await startOn('datastore', file);
  const before = serviceAt(first.endpoint);
  await before.commit([insert(key('K', 'a'), { n: integer(1) }), insert(key('K', 'gone'))]);
  await before.commit([update(key('K', 'a'), { n: integer(2) }), remove(key('K', 'gone'))]);
  const written = (await before.lookup([key('K', 'a')])).found;
  await first.kill();
  await before.close();
  const second = await startOn('datastore', file);
  const after = serviceAt(second.endpoint);
  const { found, missing } = await after.lookup([key('K', 'a'), key('K', 'gone')]);
  await after.close();
  expect(found).toEqual(written);
  expect(missing).toHaveLength(1);
});

const entity = (rowKey: string, n: number) => ({ partitionKey: 'p', rowKey, n });

test('what Azure’s emulator has answered is there after SIGKILL', async () => {
  const file = await newFile();
  const credential = new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY);
  const clientOf = (endpoint: string, table: string) =>
    new TableClient(endpoint, table, credential, { allowInsecureConnection: true });
  const first = await startOn('azure-tables', file);
  const [kept, dropped] = [clientOf(first.endpoint, 'kept'), clientOf(first.endpoint, 'dropped')];
  await dropped.createTable();
  await dropped.createEntity(entity('a', 1));
  await dropped.deleteTable();
  await kept.createTable();
  await kept.submitTransaction([
    ['create', entity('a', 1)],
    ['create', entity('gone', 1)],
  ]);
  await kept.updateEntity(entity('a', 2), 'Replace');
  await kept.updateEntity({ partitionKey: 'p', rowKey: 'a', more: 'yes' }, 'Merge');
  await kept.deleteEntity('p', 'gone');
  const { etag } = await kept.getEntity('p', 'a');
  await first.kill();
  const second = await startOn('azure-tables', file);
  const after = clientOf(second.endpoint, 'kept');
  expect(await entitiesOf(after)).toMatchObject([{ rowKey: 'a', n: 2, more: 'yes', etag }]);
  const again = clientOf(second.endpoint, 'dropped');
  await again.createTable();
  expect(await entitiesOf(again)).toEqual([]);
});

async function entitiesOf(table: TableClient): Promise<unknown[]> {
  const entities = [];
  for await (const one of table.listEntities()) entities.push(one);
  return entities;
}

/** A journal, and what it held as it was opened. */
function opened(file: string) {
  let held = {};
  const journal = openJournal(file, (entries) => void (held = Object.fromEntries(entries)));
  onTestFinished(() => journal.close());
  return { held, append: (...changes: Change[]) => journal.append(changes) };
}

test('a file holds the newest value of each key, of groups that are whole', async () => {
  const file = await newFile();
  const { append } = opened(file);
  append(['a', 1], ['b', 1], ['c', Buffer.from('c')], ['a\0b', 3]);
  append(['a', 2], ['b', undefined]);
  // A function cannot be written.
  expect(() => append(['a', 3], ['d', () => {}])).toThrow('could not be cloned');
  expect(opened(file).held).toEqual({ a: 2, c: Buffer.from('c'), 'a\0b': 3 });
});

test('a file that holds something else is refused, and stays as it is', async () => {
  const file = await newFile();
  writeFileSync(file, 'my notes');
  expect(() => opened(file)).toThrow(`${file} holds no data of this emulator`);
  expect(readFileSync(file, 'utf8')).toBe('my notes');
  const others = await newFile();
  const database = new DatabaseSync(others);
  database.exec('CREATE TABLE notes (text TEXT)');
  database.close();
  expect(() => opened(others)).toThrow('holds no data');
});

test('a file that a kill left empty is made again', async () => {
  const file = await newFile();
  writeFileSync(file, '');
  opened(file).append(['a', 1]);
  expect(opened(file).held).toEqual({ a: 1 });
});

test('a file whose content cannot be taken over is closed again', async () => {
  const file = await newFile();
  const opening = () =>
    openJournal(file, () => {
      throw new Error('no room');
    });
  expect(opening).toThrow('no room');
  // SQLite removes it when the last connection is closed.
  expect(existsSync(`${file}-wal`)).toBe(false);
});
