// npm run simulate -- --seeds N [--from S | --from fresh] [--workers W]
// npm run simulate -- --seed S [--shrink]      one seed, with everything that happened
// npm run simulate -- --scenario FILE          a scenario that shrinking left
// npm run soak -- --minutes N                  fresh seeds for so long
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { missing, SEEDS_FOR_COVERAGE, told } from './coverage.ts';
import { type Report, runSeeds, type Seeds } from './parallel.ts';
import { run } from './run.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';

const SEEDS_DEFAULT = 1_000;
const SHRINK_MS = 60_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    scenario: { type: 'string' },
    shrink: { type: 'boolean', default: false },
  },
});

if (values.scenario !== undefined) await showScenario(JSON.parse(readFileSync(values.scenario, 'utf8')) as Scenario);
else if (values.seed !== undefined) await showSeed(number('seed', values.seed));
else await runMany();

async function runMany(): Promise<void> {
  const from =
    values.from === 'fresh' || values.minutes !== undefined
      ? 1 + Math.floor(Math.random() * 2 ** 31)
      : number('from', values.from);
  const count = values.minutes === undefined ? number('seeds', values.seeds ?? String(SEEDS_DEFAULT)) : 2 ** 31;
  const forMs = values.minutes === undefined ? undefined : number('minutes', values.minutes) * 60_000;
  const seeds: Seeds = {
    from,
    count,
    forMs,
    workers: values.workers === undefined ? undefined : number('workers', values.workers),
  };
  const report = await runSeeds(seeds);
  console.log(told(report.counts));
  console.log(summary(report, from));
  const lacking = report.seeds >= SEEDS_FOR_COVERAGE ? missing(report.counts) : [];
  if (lacking.length > 0) console.log(`NEVER OCCURRED: ${lacking.join('; ')}`);
  for (const { seed, complaints } of report.failures) {
    console.log(`\nseed ${seed} failed; replay: npm run simulate -- --seed ${seed}\n  ${complaints.join('\n  ')}`);
  }
  const [first] = report.failures;
  if (first !== undefined) await shrinkAndShow(scenarioOf(first.seed));
  if (lacking.length + report.failures.length > 0) process.exitCode = 1;
}

function summary({ seeds, steps, failures, tookMs }: Report, from: number): string {
  const perSecond = Math.round((1_000 * seeds) / tookMs);
  return `${seeds} seeds from ${from}, ${steps} events, ${Math.round(tookMs / 1_000)} s (${perSecond} seeds/s): ${failures.length} failed`;
}

async function showSeed(seed: number): Promise<void> {
  const scenario = scenarioOf(seed);
  await (values.shrink ? shrinkAndShow(scenario) : showScenario(scenario));
}

async function showScenario(scenario: Scenario): Promise<void> {
  const result = await run(scenario, true);
  console.log(result.lines.join('\n'));
  console.log(`\n${result.steps} events, hash ${result.hash.toString(16)}`);
  for (const complaint of result.complaints) console.log(`FAILED: ${complaint}`);
  if (result.complaints.length > 0) process.exitCode = 1;
}

async function shrinkAndShow(scenario: Scenario): Promise<void> {
  console.log(
    `\nleaving out of seed ${scenario.seed} what its failure does not need, for at most ${SHRINK_MS / 1_000} s ...`,
  );
  const small = await shrink(scenario, SHRINK_MS);
  const file = path.join(tmpdir(), `stowage-scenario-${scenario.seed}.json`);
  writeFileSync(file, JSON.stringify(small, undefined, 1));
  await showScenario(small);
  console.log(`replay what is left: npm run simulate -- --scenario ${file}`);
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!(Number.isFinite(value) && value >= 0))
    throw new TypeError(`--${name} takes a number, not ${JSON.stringify(text)}`);
  return value;
}
