// npm run mutants [-- --only NAME] [--seeds N] [--workers W]: each mutant must be caught, or the simulation looks past the rule it breaks. A mutant that no longer
// applies to the sources fails the run too.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { type Mutant, checkApplies, mutantNames, readMutant } from './mutate.ts';
import { runSeeds } from './parallel.ts';

/** Within so many seeds. */
const SEEDS = 2_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    seeds: { type: 'string', default: String(SEEDS) },
  },
});

/** The seed that caught the mutant and what it complained of; undefined if none did. */
async function hunt(mutant: Mutant): Promise<{ seed: number; complaint: string } | undefined> {
  const report = await runSeeds({
    from: 1,
    count: Number(values.seeds),
    workers: 1,
    failuresMax: 1,
    mutant: mutant.name,
  });
  const [failure] = report.failures;
  return failure === undefined ? undefined : { seed: failure.seed, complaint: failure.complaints[0] ?? '' };
}

const mutants = mutantNames()
  .filter((name) => values.only === undefined || name.includes(values.only))
  .map(readMutant);
for (const mutant of mutants) checkApplies(mutant);
const limit = pLimit(Number(values.workers));
const caught = await Promise.all(
  mutants.map((mutant) =>
    limit(async () => {
      const found = await hunt(mutant);
      const how =
        found === undefined ? 'SURVIVED' : `seed ${found.seed}: ${found.complaint.split('\n')[0]?.slice(0, 110)}`;
      console.log(`${mutant.name.padEnd(44)} ${mutant.breaks.padEnd(13)} ${how}`);
      return found !== undefined;
    }),
  ),
);
const survivors = mutants.filter((_, index) => caught[index] !== true);
console.log(`${mutants.length} mutants, ${survivors.length} survived ${values.seeds} seeds`);
if (survivors.length > 0 || mutants.length === 0) process.exitCode = 1;
