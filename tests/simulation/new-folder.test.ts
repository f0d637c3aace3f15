// Ctrl-C leaves no copy of the sources behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { inNewFolder } from './new-folder.ts';

test('the folder is there for the work, and gone after it, whatever becomes of that', async () => {
  const seen = await inNewFolder('stowage-test-', async (folder) => ({ folder, isThere: existsSync(folder) }));
  expect([seen.isThere, existsSync(seen.folder)]).toEqual([true, false]);
  const failed = await inNewFolder('stowage-test-', async (folder) => Promise.reject(new Error(folder))).catch(
    (error: unknown) => (error as Error).message,
  );
  expect(failed).toContain('stowage-test-');
  expect(existsSync(failed)).toBe(false);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s removes it', async (signal) => {
  const source = `
    import { inNewFolder } from ${JSON.stringify(new URL('new-folder.ts', import.meta.url).href)};
    await inNewFolder('stowage-test-', async (folder) => {
      console.log(folder);
      await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1));
    });`;
  const job = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void job.kill('SIGKILL'));
  const [folder] = (await once(createInterface(job.stdout), 'line')) as [string];
  expect(existsSync(folder)).toBe(true);
  job.kill(signal);
  expect(await once(job, 'exit')).toEqual([130, null]);
  expect(existsSync(folder)).toBe(false);
});
