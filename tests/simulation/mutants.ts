// npm run mutants: one that survives shows a rule not checked. One that does not apply fails too.
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { createVitest } from 'vitest/node';
import { command, runCommand, UsageError, wholeNumber } from '../../infra/cli/command-options.ts';
import { checkApplies, type Mutant, mutantNames, mutated, readMutant } from './mutate.ts';
import { runSeeds } from './parallel.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 300_000;

/** Seeds of each simulation that hunt a mutant, from the first on. */
const SEEDS = { machine: 1_000, store: 2_000 };

/** Where the rules of the machine stand, which its own simulation meets sooner. */
const OF_THE_MACHINE = /^shared\/store\/(machine|container|format)\//;

const MUTANTS = command({
  name: 'npm run mutants --',
  about: `Makes one fault after the other in copies of the sources and looks whether seeds of the simulation, or the test that is named for it,
catch it. Fails if one survives. All of them take many minutes.`,
  options: {
    only: { value: 'TEXT', help: 'those whose name holds this; default all' },
    workers: { value: 'N', default: String(availableParallelism()), help: 'mutants at a time' },
  },
  examples: ['npm run mutants -- --only announced'],
});

await runCommand(MUTANTS, process.argv.slice(2), async ({ values: { only = '', ...values } }) => {
  const workers = wholeNumber('--workers', values.workers, 1);
  const mutants = mutantNames()
    .filter((name) => name.includes(only))
    .map(readMutant);
  if (mutants.length === 0) throw new UsageError(`no mutant's name holds "${only}"`);
  for (const mutant of mutants) checkApplies(mutant);
  const limit = pLimit(workers);
  const hunts = await Promise.all(mutants.map((mutant) => limit(() => hunt(mutant))));
  const survivors = hunts.filter((isCaught) => !isCaught);
  console.log(`${hunts.length} mutants, ${survivors.length} survived`);
  if (survivors.length > 0) process.exitCode = 1;
});

/** Whether seeds or the mutant's test catch it. */
async function hunt(mutant: Mutant): Promise<boolean> {
  const [caught, complaint] = mutant.test === undefined ? await bySeeds(mutant) : await byTest(mutant, mutant.test);
  console.log(
    `${mutant.name.padEnd(44)} ${mutant.breaks.padEnd(12)} ${caught ?? 'SURVIVED'}${complaint === '' ? '' : `: ${complaint}`}`,
  );
  return caught !== undefined;
}

async function bySeeds({ name, patches }: Mutant): Promise<[caught: string | undefined, complaint: string]> {
  const isOfTheMachine = patches.some(({ file }) => OF_THE_MACHINE.test(file));
  for (const of of isOfTheMachine ? (['machine', 'store'] as const) : (['store'] as const)) {
    const { failures } = await runSeeds({ of, from: 1, count: SEEDS[of], workers: 1, failuresMax: 1, mutant: name });
    const [failure] = failures;
    const complaint = shortened(failure?.complaints[0] ?? '');
    // A mutant that does not run breaks no rule, yet every seed would catch it.
    if (complaint.includes('ReferenceError')) throw new Error(`the mutant "${name}" does not run: ${complaint}`);
    if (failure !== undefined) return [`seed ${failure.seed} of the ${of}`, complaint];
  }
  return [undefined, ''];
}

/** The first line, with long prefixes of keys cut. */
function shortened(complaint: string): string {
  return (complaint.split('\n')[0] ?? '').replace(/x{9,}/, 'x...').slice(0, 110);
}

/** Runs the test on sources patched as they load. A file that cannot run proves nothing. */
async function byTest(mutant: Mutant, test: string): Promise<[caught: string | undefined, complaint: string]> {
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
    const isCaught = testModules.some(({ children }) => [...children.allTests('failed')].length > 0);
    return [isCaught ? path.basename(test) : undefined, ''];
  } finally {
    await vitest.close();
    // Vitest sets it when a test fails.
    process.exitCode = 0;
  }
}
