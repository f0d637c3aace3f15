// npm run simulate and npm run soak: play seeds, show events and failures. Options: arguments.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand, UsageError } from '../../infra/cli/command-options.ts';
import { type Command, commandOf, SIMULATE } from './arguments.ts';
import { missing, told } from './coverage.ts';
import { type Report, runSeeds } from './parallel.ts';
import type { Weather } from './scenario.ts';
import { shrink, type Simulation, SIMULATIONS } from './simulations.ts';

const SHRINK_MS = 60_000;

await runCommand(SIMULATE, process.argv.slice(2), async (given) => {
  const command = commandOf(given, () => 1 + Math.floor(Math.random() * 2 ** 31));
  const simulation = SIMULATIONS[command.of];
  switch (command.kind) {
    case 'seeds': {
      const failed = await runMany(command);
      return failed === undefined ? undefined : shrinkAndShow(simulation, simulation.draw(failed));
    }
    case 'seed': {
      const scenario = simulation.draw(command.seed);
      return command.isShrunk ? shrinkAndShow(simulation, scenario) : show(simulation, scenario);
    }
    case 'scenario':
      return show(simulation, readScenario(command.file));
    default:
      command satisfies never;
  }
});

/** Throws a UsageError. */
function readScenario(file: string): Weather {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Weather;
  } catch (error) {
    throw new UsageError(`--scenario: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the first seed that failed. */
async function runMany(command: Extract<Command, { kind: 'seeds' }>): Promise<number | undefined> {
  const { of, from } = command;
  const report = await runSeeds(command);
  console.log(told(report.counts));
  console.log(summary(report, from));
  const lacking = missing(of, report.seeds, report.counts);
  if (lacking.length > 0) console.log(`NEVER OCCURRED: ${lacking.join('; ')}`);
  for (const { seed, complaints } of report.failures)
    console.log(
      `\nseed ${seed} failed; replay: npm run simulate -- ${ofMachine(of)}--seed ${seed}\n  ${complaints.join('\n  ')}`,
    );
  if (lacking.length + report.failures.length > 0) process.exitCode = 1;
  return report.failures[0]?.seed;
}

function summary({ seeds, steps, failures, tookMs }: Report, from: number): string {
  const perSecond = Math.round((1_000 * seeds) / tookMs);
  return `${seeds} seeds from ${from}, ${steps} events, ${Math.round(tookMs / 1_000)} s (${perSecond} seeds/s): ${failures.length} failed`;
}

async function show(simulation: Simulation<Weather>, scenario: Weather): Promise<void> {
  const result = await simulation.play(scenario, true);
  console.log(result.lines.join('\n'));
  console.log(`\n${result.steps} events, hash ${result.hash.toString(16)}`);
  for (const complaint of result.complaints) console.log(`FAILED: ${complaint}`);
  if (result.complaints.length > 0) process.exitCode = 1;
}

async function shrinkAndShow(simulation: Simulation<Weather>, scenario: Weather): Promise<void> {
  console.log(
    `\nleaving out of seed ${scenario.seed} what its failure does not need, for at most ${SHRINK_MS / 1_000} s ...`,
  );
  const small = await shrink(simulation, scenario, SHRINK_MS);
  const file = path.join(tmpdir(), `stowage-scenario-${scenario.seed}.json`);
  writeFileSync(file, JSON.stringify(small, undefined, 1));
  await show(simulation, small);
  console.log(
    `replay what is left: npm run simulate -- ${ofMachine(simulation === SIMULATIONS.machine ? 'machine' : 'store')}--scenario ${file}`,
  );
}

function ofMachine(of: Command['of']): string {
  return of === 'machine' ? '--machine ' : '';
}
