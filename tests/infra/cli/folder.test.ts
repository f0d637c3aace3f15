// Folders that commands are told to use are checked before anything starts.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../../infra/cli/folder.ts';
import { UsageError } from '../../../infra/cli/options.ts';

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

test.runIf(process.platform === 'linux')('a folder below /proc is refused, where Node.js never ends', async () => {
  await expect(makeFolder('--out', '/proc/x/y')).rejects.toThrow(
    /^--out takes a folder that can be written to: ENOENT/,
  );
});
