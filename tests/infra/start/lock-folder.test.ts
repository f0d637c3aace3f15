// A folder that keeps data has one user at a time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { lockFolder } from '../../../infra/start/lock-folder.ts';
import { testFolder } from '../../support/folder.ts';

test('a folder that another process uses is refused, and free again once it is given back', async () => {
  const folder = await testFolder();
  const release = await lockFolder('--data', folder);
  await expect(lockFolder('--data', folder)).rejects.toThrow(`is in use by process ${process.pid}`);
  await release();
  const again = await lockFolder('--data', folder);
  await expect(again()).resolves.toBeUndefined();
});

test('the lock of a process that has ended does not count', async () => {
  const folder = await testFolder();
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(ended, 'exit');
  await writeFile(path.join(folder, 'in-use-by-process'), String(ended.pid));
  const again = await lockFolder('--data', folder);
  await expect(again()).resolves.toBeUndefined();
});
