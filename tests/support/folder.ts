// A test's own folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder, which goes with the test. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
