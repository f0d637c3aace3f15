// npm run mutants [-- --only NAME] [--workers W] [--figures]: each mutant must be caught, or the simulation looks past the rule it breaks. A
// mutant that no longer applies to the sources fails the run too.
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { runCommand, UsageError, whole } from './arguments.ts';
import { table, writeFigures } from './figures.ts';
import { isCaughtByTest } from './mutant-test.ts';
import { checkApplies, type Mutant, mutantNames, readMutant } from './mutate.ts';
import { runSeeds } from './parallel.ts';

/** Within so many seeds, from the first on. */
const SEEDS = 2_000;

interface Hunt {
  readonly mutant: Mutant;
  /** What caught it: a seed with what it complained of, or a test; undefined if nothing did. */
  readonly caught: string | undefined;
}

await runCommand(async () => {
  const { only, workers, figures } = parsed(process.argv.slice(2));
  const mutants = mutantNames()
    .filter((name) => name.includes(only))
    .map(readMutant);
  if (mutants.length === 0) throw new UsageError(`no mutant's name holds "${only}"`);
  for (const mutant of mutants) checkApplies(mutant);
  const limit = pLimit(workers);
  const hunts = await Promise.all(mutants.map((mutant) => limit(() => hunt(mutant))));
  const survivors = hunts.filter(({ caught }) => caught === undefined);
  console.log(`${hunts.length} mutants, ${survivors.length} survived`);
  if (survivors.length > 0) process.exitCode = 1;
  if (figures) await writeFigures('mutants', figuresOf(hunts));
});

function parsed(args: readonly string[]): { only: string; workers: number; figures: boolean } {
  try {
    const {
      only = '',
      workers,
      figures = false,
    } = parseArgs({
      args: [...args],
      options: { only: { type: 'string' }, workers: { type: 'string' }, figures: { type: 'boolean' } },
    }).values;
    return { only, figures, workers: workers === undefined ? availableParallelism() : whole('--workers', workers, 1) };
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

async function hunt(mutant: Mutant): Promise<Hunt> {
  const [caught, complaint] = mutant.test === undefined ? await bySeeds(mutant) : await byTest(mutant, mutant.test);
  console.log(
    `${mutant.name.padEnd(44)} ${mutant.breaks.padEnd(12)} ${caught ?? 'SURVIVED'}${complaint === '' ? '' : `: ${complaint}`}`,
  );
  return { mutant, caught };
}

async function bySeeds({ name }: Mutant): Promise<[caught: string | undefined, complaint: string]> {
  const { failures } = await runSeeds({ from: 1, count: SEEDS, workers: 1, failuresMax: 1, mutant: name });
  const [failure] = failures;
  return failure === undefined ? [undefined, ''] : [`seed ${failure.seed}`, shortened(failure.complaints[0] ?? '')];
}

async function byTest(mutant: Mutant, test: string): Promise<[caught: string | undefined, complaint: string]> {
  return [(await isCaughtByTest(mutant, test)) ? path.basename(test) : undefined, ''];
}

/** The first line, without the long beginnings of keys. */
function shortened(complaint: string): string {
  return (complaint.split('\n')[0] ?? '').replace(/x{9,}/, 'x...').slice(0, 110);
}

function figuresOf(hunts: readonly Hunt[]): string {
  const rows = hunts
    .toSorted((a, b) => a.mutant.breaks.localeCompare(b.mutant.breaks, 'en', { numeric: true }))
    .map(({ mutant, caught }) => [mutant.breaks, mutant.name, mutant.what, caught ?? 'SURVIVED']);
  const byTests = hunts.filter(({ mutant }) => mutant.test !== undefined).length;
  return `${hunts.length} mutants: ${hunts.length - byTests} for seeds, ${SEEDS} at most, and ${byTests} for tests.\n\n${table(['breaks', 'mutant', 'what it does', 'caught by'], rows)}`;
}
