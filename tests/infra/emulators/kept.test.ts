// Data in a file: there after the process that wrote it was killed, on both clouds; and the file
// itself, torn or grown.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../../infra/emulators/azurite.ts';
import { type Change, openJournal } from '../../../infra/emulators/datastore/storage/journal.ts';
import { insert, integer, key, remove, serviceAt, update } from './datastore/service.ts';
import { testFolder } from '../../support/folder.ts';

async function newFile(): Promise<string> {
  return path.join(await testFolder(), 'data.bin');
}

const STARTS = {
  datastore: ['embedded.ts', 'startEmbeddedDatastore'],
  'azure-tables': ['azurite.ts', 'startAzurite'],
} as const;

/**
 * The emulator in a process of its own, which ends by SIGKILL alone; or by itself if it cannot
 * start.
 */
function spawnOn(cloud: keyof typeof STARTS, dataFile: string) {
  const [file, start] = STARTS[cloud];
  const url = new URL(`../../../infra/emulators/${file}`, import.meta.url).href;
  const script = `
    const { ${start}: start } = await import(${JSON.stringify(url)});
    await start({ inProcess: true, dataFile: ${JSON.stringify(dataFile)} }).then(
      ({ endpoint }) => console.log(endpoint),
      ({ message }) => console.error(message),
    );`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function startOn(cloud: keyof typeof STARTS, dataFile: string) {
  const child = spawnOn(cloud, dataFile);
  child.stderr.pipe(process.stderr);
  const kill = async (): Promise<void> => {
    const exited = once(child, 'exit');
    if (child.kill('SIGKILL')) await exited;
  };
  onTestFinished(kill);
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { endpoint: line.trim(), kill };
}

test('what Datastore’s emulator has answered is there after SIGKILL', { timeout: 60_000 }, async () => {
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

test('what Azure’s emulator has answered is there after SIGKILL', { timeout: 60_000 }, async () => {
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

/** A journal over a map. */
function opened(file: string, appendedBytesMax?: number) {
  const data = new Map<string, unknown>();
  const journal = openJournal(file, {
    restore: (entries) => entries.forEach((value, key) => data.set(key, value)),
    entries: () => data,
    ...(appendedBytesMax === undefined ? {} : { appendedBytesMax }),
  });
  onTestFinished(() => journal.close());
  const append = (...changes: Change[]): void => {
    for (const [key, value] of changes) data.set(key, value);
    journal.append(changes);
  };
  return { data, append };
}

const contentsOf = (file: string): object => Object.fromEntries(opened(file).data);

test('a group of changes that was torn is not there, at whatever byte; those before it are', async () => {
  const file = await newFile();
  const { append } = opened(file);
  append(['a', 1], ['b', 1]);
  const whole = statSync(file).size;
  append(['a', 2], ['b', 2]);
  const bytes = readFileSync(file);
  for (let size = whole; size < bytes.length; size += 1) {
    writeFileSync(file, bytes.subarray(0, size));
    expect(contentsOf(file)).toEqual({ a: 1, b: 1 });
  }
  writeFileSync(file, bytes);
  expect(contentsOf(file)).toEqual({ a: 2, b: 2 });
});

test('what is no frame at the end is dropped, and is not in the way of what comes after', async () => {
  const file = await newFile();
  opened(file).append(['a', 1]);
  appendFileSync(file, Buffer.alloc(100, 0xff));
  opened(file).append(['b', 1]);
  expect(contentsOf(file)).toEqual({ a: 1, b: 1 });
});

test('the file is written anew when it has grown, and holds the same', async () => {
  const file = await newFile();
  const { append } = opened(file, 1_000);
  for (let n = 1; n <= 1_000; n += 1) append(['a', n]);
  expect(statSync(file).size).toBeLessThan(2_000);
  expect(contentsOf(file)).toEqual({ a: 1_000 });
});

test('where the file cannot be written anew, writes are kept all the same, and it is tried again later', async () => {
  const file = await newFile();
  const { data, append } = opened(file, 1_000);
  const entries = vi.spyOn(data, Symbol.iterator).mockImplementation(() => {
    throw new Error('no space is left');
  });
  for (let n = 1; n <= 1_000; n += 1) append(['a', n]);
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  expect(contentsOf(copy)).toEqual({ a: 1_000 });
  expect(entries.mock.calls.length).toBeGreaterThan(1);
  expect(entries.mock.calls.length).toBeLessThanOrEqual(statSync(file).size / 1_000);
  expect(openFiles().filter((one) => one.startsWith(`${file}.new`))).toEqual([]);
  entries.mockRestore();
  for (let n = 1; n <= 1_000; n += 1) append(['b', n]);
  expect(statSync(file).size).toBeLessThan(2_000);
});

test.each(['datastore', 'azure-tables'] as const)(
  'the emulator of %s names a file that holds something else, and has nothing open',
  { timeout: 60_000 },
  async (cloud) => {
    const file = await newFile();
    writeFileSync(file, 'my notes');
    const child = spawnOn(cloud, file);
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await text(child.stderr)).toContain(`${file} holds no data of this emulator`);
  },
);

/** The names of this process's open files; none where there is no `/proc`. */
function openFiles(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd').flatMap((one) => {
    try {
      return [readlinkSync(`/proc/self/fd/${one}`)];
    } catch {
      return [];
    }
  });
}

test('a file that holds something else is refused, and stays as it is', async () => {
  const file = await newFile();
  writeFileSync(file, 'my notes');
  expect(() => opened(file)).toThrow(`${file} holds no data of this emulator`);
  expect(readFileSync(file, 'utf8')).toBe('my notes');
  truncateSync(file);
  expect(() => opened(file)).toThrow('holds no data');
});
