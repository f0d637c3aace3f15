// npm run simulate and npm run soak: plays seeds out, tells what occurred, and shows what failed. arguments.ts says what they take.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand, UsageError } from '../../infra/cli/options.ts';
import { type Command, commandOf, SIMULATE } from './arguments.ts';
import { scenarioBeside } from './beside.ts';
import { missing, missingBeside, told } from './coverage.ts';
import { table, writeFigures } from './figures.ts';
import { type Report, runSeeds } from './parallel.ts';
import { hasCommit, loadRelease, type Release, withRelease } from './release.ts';
import { run } from './run.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';

const SHRINK_MS = 60_000;

await runCommand(SIMULATE, process.argv.slice(2), async (given) => {
  const command = commandOf(given, () => 1 + Math.floor(Math.random() * 2 ** 31));
  const { beside } = command;
  if (beside === undefined) return play(command);
  if (!hasCommit(beside)) throw new UsageError(`--beside takes a commit of this clone, not "${beside}"`);
  return withRelease(beside, (folder) => play(command, folder));
});

/** `folder`: where another release lies. */
async function play(command: Command, folder?: string): Promise<void> {
  const other = folder === undefined ? undefined : await loadRelease(folder);
  const drawn = (seed: number): Scenario => (other === undefined ? scenarioOf(seed) : scenarioBeside(seed));
  switch (command.kind) {
    case 'seeds': {
      const failed = await runMany(command, folder, other);
      return failed === undefined ? undefined : shrinkAndShow(drawn(failed), other);
    }
    case 'seed':
      return command.isShrunk ? shrinkAndShow(drawn(command.seed), other) : show(drawn(command.seed), other);
    case 'scenario':
      return show(readScenario(command.file), other);
    default:
      command satisfies never;
  }
}

/** Throws a UsageError. */
function readScenario(file: string): Scenario {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Scenario;
  } catch (error) {
    throw new UsageError(`--scenario: ${(error as Error).message}`, { cause: error });
  }
}

/** The first seed that failed. */
async function runMany(
  command: Extract<Command, { kind: 'seeds' }>,
  release: string | undefined,
  other: Release | undefined,
): Promise<number | undefined> {
  const { from, count, forMs, workers, writesFigures, beside } = command;
  const report = await runSeeds({ from, count, forMs, workers, release });
  console.log(told(report.counts));
  console.log(summary(report, from));
  if (writesFigures) await writeFigures('events', figures(report, from));
  const lacking =
    other === undefined ? missing(report.seeds, report.counts) : missingBeside(report.seeds, report.counts, other);
  if (lacking.length > 0) console.log(`NEVER OCCURRED: ${lacking.join('; ')}`);
  const besides = beside === undefined ? '' : ` --beside ${beside}`;
  for (const { seed, complaints } of report.failures)
    console.log(
      `\nseed ${seed} failed; replay: npm run simulate -- --seed ${seed}${besides}\n  ${complaints.join('\n  ')}`,
    );
  if (lacking.length + report.failures.length > 0) process.exitCode = 1;
  return report.failures[0]?.seed;
}

function summary({ seeds, steps, failures, tookMs }: Report, from: number): string {
  const perSecond = Math.round((1_000 * seeds) / tookMs);
  return `${seeds} seeds from ${from}, ${steps} events, ${Math.round(tookMs / 1_000)} s (${perSecond} seeds/s): ${failures.length} failed`;
}

function figures({ seeds, steps, failures, counts }: Report, from: number): string {
  const rows = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => [name, String(count)]);
  return `${seeds} seeds from ${from}, ${steps} steps of the scheduler, ${failures.length} failed.\n\n${table(['event', 'times'], rows)}`;
}

async function show(scenario: Scenario, other: Release | undefined): Promise<void> {
  const result = await run(scenario, true, other);
  console.log(result.lines.join('\n'));
  console.log(`\n${result.steps} events, hash ${result.hash.toString(16)}`);
  for (const complaint of result.complaints) console.log(`FAILED: ${complaint}`);
  if (result.complaints.length > 0) process.exitCode = 1;
}

async function shrinkAndShow(scenario: Scenario, other: Release | undefined): Promise<void> {
  console.log(
    `\nleaving out of seed ${scenario.seed} what its failure does not need, for at most ${SHRINK_MS / 1_000} s ...`,
  );
  const small = await shrink(scenario, SHRINK_MS, other);
  const file = path.join(tmpdir(), `stowage-scenario-${scenario.seed}.json`);
  writeFileSync(file, JSON.stringify(small, undefined, 1));
  await show(small, other);
  console.log(`replay what is left: npm run simulate -- --scenario ${file}`);
}
