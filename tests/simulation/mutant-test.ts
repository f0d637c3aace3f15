// Runs a rule's test on a mutant's sources, patched as they load: seeds seldom meet such mutants.
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';
import { type Mutant, mutated } from './mutate.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 300_000;

/** Whether the test fails on the mutant's sources. A file that cannot run proves nothing. */
export async function isCaughtByTest(mutant: Mutant, test: string): Promise<boolean> {
  const patching = {
    name: 'mutant',
    enforce: 'pre' as const,
    transform: (source: string, id: string): string => mutated(mutant, id.replace(ROOT, ''), source),
  };
  const options = {
    config: false as const,
    fsModuleCache: false,
    root: ROOT,
    watch: false,
    reporters: [{}],
    maxWorkers: 1,
    bail: 1,
  };
  const vitest = await createVitest('test', { ...options, testTimeout: TIMEOUT_MS }, { plugins: [patching] });
  try {
    const { testModules } = await vitest.start([test]);
    return testModules.some(({ children }) => [...children.allTests('failed')].length > 0);
  } finally {
    await vitest.close();
    // Vitest sets it when a test fails.
    process.exitCode = 0;
  }
}
