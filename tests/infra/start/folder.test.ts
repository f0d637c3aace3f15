// Folders that commands are told to use: checked before anything starts, and with one user at a time where data is kept.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { UsageError } from '../../../infra/cli/options.ts';
import { lockFolder, makeFolder } from '../../../infra/start/folder.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-folder-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('a folder is made with those above it', async () => {
  const folder = path.join(await newFolder(), 'a/b');
  await makeFolder('--out', folder);
  await expect(writeFile(path.join(folder, 'file'), '')).resolves.toBeUndefined();
});

test('a file in the place of a folder is refused by the option that names it', async () => {
  const file = path.join(await newFolder(), 'file');
  await writeFile(file, '');
  await expect(makeFolder('--out', file)).rejects.toThrow(/^--out takes a folder that can be written to: EEXIST/);
  await expect(makeFolder('--out', path.join(file, 'below'))).rejects.toThrow(UsageError);
});

test('a folder that another process uses is refused, and free again once it is given back', async () => {
  const folder = await newFolder();
  const release = await lockFolder('--data', folder);
  await expect(lockFolder('--data', folder)).rejects.toThrow(`is in use by process ${process.pid}`);
  await release();
  const again = await lockFolder('--data', folder);
  await expect(again()).resolves.toBeUndefined();
});

test('the lock of a process that has ended does not count', async () => {
  const folder = await newFolder();
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(ended, 'exit');
  await writeFile(path.join(folder, 'in-use-by-process'), String(ended.pid));
  const again = await lockFolder('--data', folder);
  await expect(again()).resolves.toBeUndefined();
});
