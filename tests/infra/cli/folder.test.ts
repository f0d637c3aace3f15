// Folders that commands are told to use are checked before anything starts.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../../infra/cli/folder.ts';
import { UsageError } from '../../../infra/cli/options.ts';
import { testFolder } from '../../support/folder.ts';

test('a folder is made with those above it', async () => {
  const folder = path.join(await testFolder(), 'a/b');
  await makeFolder('--out', folder);
  await expect(writeFile(path.join(folder, 'file'), '')).resolves.toBeUndefined();
});

test('a file in the place of a folder is refused by the option that names it', async () => {
  const file = path.join(await testFolder(), 'file');
  await writeFile(file, '');
  await expect(makeFolder('--out', file)).rejects.toThrow(/^--out takes a folder that can be written to: EEXIST/);
  await expect(makeFolder('--out', path.join(file, 'below'))).rejects.toThrow(UsageError);
});

test.runIf(process.platform === 'linux')('a folder below /proc is refused, where Node.js never ends', async () => {
  await expect(makeFolder('--out', '/proc/x/y')).rejects.toThrow(
    /^--out takes a folder that can be written to: ENOENT/,
  );
});
