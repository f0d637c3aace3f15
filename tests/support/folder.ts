// A test's own folder, or a file's.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** An empty folder, which goes with the test; or with what else `last` is told of. */
export async function testFolder(last: (remove: () => Promise<void>) => void = onTestFinished): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-test-'));
  last(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An empty folder, which goes after all tests of the file. */
export function fileFolder(): Promise<string> {
  return testFolder(afterAll);
}
