// Runs the test of one rule on a mutant, in a copy of the project that is then removed. Seeds
// seldom meet such mutants; their test always does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, patched } from './mutate.ts';
import { inNewFolder } from './new-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 300_000;

/** Whether the test fails on the mutant's sources. */
export function isCaughtByTest(mutant: Mutant, test: string): Promise<boolean> {
  return inNewFolder('stowage-mutant-', async (copy) => {
    for (const name of ['package.json', 'tsconfig.json', 'shared', 'tests'])
      cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
    for (const patch of mutant.patches) {
      const file = path.join(copy, patch.file);
      writeFileSync(file, patched(readFileSync(file, 'utf8'), patch, mutant.name));
    }
    const vitest = path.join(copy, 'node_modules/vitest/vitest.mjs');
    const report = path.join(copy, 'report.json');
    const args = [vitest, 'run', test, '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
    await once(spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout: TIMEOUT_MS }), 'close');
    return failedTests(report) > 0;
  });
}

/** A test file that could not run at all proves nothing, and counts no failure. */
function failedTests(report: string): number {
  return (JSON.parse(readFileSync(report, 'utf8')) as { numFailedTests: number }).numFailedTests;
}
