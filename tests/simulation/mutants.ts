// npm run mutants [-- --only NAME] [--workers W] [--figures]: each mutant must be caught, or the simulation looks past the rule it breaks. A
// mutant that no longer applies to the sources fails the run too.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { runCommand, UsageError, whole } from './arguments.ts';
import { table, writeFigures } from './figures.ts';
import { checkApplies, type Mutant, mutantNames, readMutant } from './mutate.ts';
import { runSeeds } from './parallel.ts';

/** Within so many seeds, from the first on. */
const SEEDS = 2_000;

interface Hunt {
  readonly mutant: Mutant;
  /** The seed that caught it, and what it complained of; undefined if none did. */
  readonly caught: { readonly seed: number; readonly complaint: string } | undefined;
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
  console.log(`${hunts.length} mutants, ${survivors.length} survived ${SEEDS} seeds`);
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
  const report = await runSeeds({ from: 1, count: SEEDS, workers: 1, failuresMax: 1, mutant: mutant.name });
  const [failure] = report.failures;
  const caught = failure && { seed: failure.seed, complaint: shortened(failure.complaints[0] ?? '') };
  const how = caught === undefined ? 'SURVIVED' : `seed ${caught.seed}: ${caught.complaint}`;
  console.log(`${mutant.name.padEnd(44)} ${mutant.breaks.padEnd(16)} ${how}`);
  return { mutant, caught };
}

/** The first line, without the long beginnings of keys. */
function shortened(complaint: string): string {
  return (complaint.split('\n')[0] ?? '').replace(/x{9,}/, 'x...').slice(0, 110);
}

function figuresOf(hunts: readonly Hunt[]): string {
  const rows = hunts
    .toSorted((a, b) => a.mutant.breaks.localeCompare(b.mutant.breaks, 'en', { numeric: true }))
    .map(({ mutant, caught }) => [
      mutant.breaks,
      mutant.name,
      mutant.what,
      caught === undefined ? 'SURVIVED' : String(caught.seed),
    ]);
  return `${hunts.length} mutants, each given ${SEEDS} seeds at most.\n\n${table(['breaks', 'mutant', 'what it does', 'seed'], rows)}`;
}
