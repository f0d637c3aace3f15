// The benchmark, `npm run bench`: this store against the plain SDKs on both emulators, in one run, with the ratio that each kind of work is to
// reach. Exits 0 whether or not they are reached: it measures, it is no test.
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PROVIDER_NAMES } from '../../shared/compare/report/names.ts';
import type { ProcessorTable } from '../../shared/model/data/processor.ts';
import { machine, versions } from '../cli/machine.ts';
import { command, runCommand, UsageError } from '../cli/options.ts';
import { bundleStatement } from './bundled.ts';
import { calibrate } from './calibrate.ts';
import { writeProcessorTable } from './calibration/file.ts';
import { type Match, type ContestResult, runContest } from './contest/contest.ts';
import { type Goal, GOALS } from './contest/goals.ts';
import { Sides } from './contest/sides.ts';
import { contestsText, loadsText, type Statement, statementsText } from './contest/text.ts';
import { type BenchProvider, startAzure, startDatastore } from './providers.ts';
import { runScale } from './scale.ts';
import { statementsOf } from './statements.ts';
import { weighStored } from './stored.ts';

const RTT_MAX_MS = 1_000;

const BENCH = command({
  name: 'npm run bench --',
  about: `Measures this store against the plain SDKs, on emulators on this machine: all contests in some 6 minutes. Exits 0 whether or not the
goals are reached.`,
  options: {
    quick: { help: 'fewer and shorter turns, below 2 minutes' },
    rtt: {
      value: 'MS',
      default: '0',
      help: 'every contest over a proxy with round trips of so many milliseconds, up to 1000',
    },
    calibrate: {
      help: 'no contests: measures the processor time of the clients and writes it to shared/model/data, in 10 minutes and more',
    },
    scale: { help: 'no contests: 10,000 to 1,000,000 records, in memory and on Azurite' },
    json: { help: 'one JSON object on standard output, and nothing else' },
  },
  examples: ['npm run bench -- --quick', 'npm run bench -- --rtt 10 --json'],
});

const ROUNDS = 5;
const TURN_MS = 700;
const QUICK_ROUNDS = 3;
const QUICK_TURN_MS = 120;
const FAR_RTT_MS = 10;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CALIBRATION = { records: 10_000, callers: [1, 8, 32, 256], containerBytes: [64 * 1_024, 256 * 1_024, undefined] };
/** Processor time of one turn of a calibration. */
const PROCESSOR_MS = 60;
const QUICK_PROCESSOR_MS = 20;
/** Google's emulator, in Java, is several times slower for its first ten thousand operations. */
const WARM_UP_OPERATIONS = 10_000;
const WARM_UP_IN_FLIGHT = 32;

interface Options {
  readonly turnMs: number;
  readonly rounds: number;
  readonly rttMs: number;
  readonly isQuick: boolean;
  readonly json: boolean;
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => stop.abort(new Error(`ended by ${signal}`)));

await runCommand(
  BENCH,
  process.argv.slice(2),
  async ({ values: { quick, calibrate: isCalibration, scale: isScale, json, rtt } }) => {
    const rttMs = rtt.trim() === '' ? NaN : Number(rtt);
    if (!(rttMs >= 0 && rttMs <= RTT_MAX_MS)) throw new UsageError(`--rtt is from 0 to ${RTT_MAX_MS} ms, not ${rtt}`);
    const [turnMs, rounds] = quick ? [QUICK_TURN_MS, QUICK_ROUNDS] : [TURN_MS, ROUNDS];
    const options: Options = { rttMs, json, isQuick: quick, turnMs, rounds };
    if (isCalibration) await writeCalibration(options);
    else await (isScale ? scale(options) : run(options));
  },
);

async function run(options: Options): Promise<void> {
  const results: ContestResult[] = [];
  const statements: Statement[] = [];
  const on = machine();
  const { cpu, cores, node } = on;
  const backends: string[] = [];
  for (const start of [startDatastore, startAzure]) {
    const provider = await start();
    backends.push(provider.backend);
    try {
      results.push(...(await contestsOf(provider, options)));
      statements.push(...(await statementsOf(provider, options.turnMs)));
    } finally {
      await provider.close();
    }
  }
  statements.push(await bundleStatement(options.rounds, stop.signal));
  if (options.json) {
    const ratios = results.map(({ spread, unit, ...result }) => ({ ...result, unit, spread }));
    console.log(JSON.stringify({ ratios, statements, machine: { ...on, backends } }));
    return;
  }
  console.log(`\n${contestsText(results)}\n\n${statementsText(statements)}`);
  console.log(
    `\nMedians of ${options.rounds} alternating rounds on ${cores} x ${cpu}, Node.js ${node}: ${backends.join(', ')}.`,
  );
}

async function scale({ json }: Options): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const results = await runScale(collect, json ? () => {} : console.log, stop.signal);
  if (json) console.log(JSON.stringify({ scale: results, machine: machine() }));
}

async function writeCalibration({ isQuick, rounds, json }: Options): Promise<void> {
  const { cpu, cores, platform, node } = machine();
  const log = json ? (): void => {} : console.error;
  const providers = [await startDatastore(), await startAzure()];
  try {
    const processorMs = isQuick ? QUICK_PROCESSOR_MS : PROCESSOR_MS;
    const size = { ...CALIBRATION, rounds, processorMs, signal: stop.signal, log };
    const table: ProcessorTable = {
      measured: new Date().toISOString().slice(0, 10),
      machine: { cpu, cores, platform, node },
      packages: await versions(ROOT),
      ...(await calibrate(providers, size)),
    };
    const file = await writeProcessorTable(table, ROOT);
    console.log(json ? JSON.stringify(table) : `${loadsText(table.loads)}\n\n${file}`);
  } finally {
    for (const provider of providers) await provider.close();
  }
}

async function contestsOf(provider: BenchProvider, options: Options): Promise<ContestResult[]> {
  const log = options.json ? (): void => {} : console.error;
  log(`${PROVIDER_NAMES[provider.provider]} on ${provider.backend}: warming up ...`);
  const near = new Sides(await provider.target(options.rttMs), 'bench');
  await near.load(monotonicMs);
  await warmUp(near, options);
  // What lies far away anyway is not moved further.
  const far = options.rttMs > 0 ? undefined : new Sides(await provider.target(FAR_RTT_MS), 'bench');
  const results: ContestResult[] = [];
  for (const goal of GOALS) {
    if (goal.isFar && far === undefined) continue;
    const result = await resultOf(goal, provider, goal.isFar ? far! : near, options);
    results.push(result);
    log(`  ${goal.name}, ${goal.inFlight} in flight${goal.isFar ? ', far' : ''}: ${result.ratio.toFixed(2)}`);
  }
  return results;
}

async function resultOf(
  { name, inFlight, isFar, ratios }: Goal,
  provider: BenchProvider,
  sides: Sides,
  { turnMs, rounds, rttMs }: Options,
): Promise<ContestResult> {
  const goal = ratios[provider.provider];
  if (name === 'stored bytes') return weighStored(provider, sides.records(), goal);
  const far = isFar ? FAR_RTT_MS : rttMs;
  const works = (await sides.works())[name];
  const contest: Match = { name, provider: provider.provider, inFlight, rttMs: far, goal, ...works };
  return runContest(contest, { count: rounds, turnMs, signal: stop.signal, monotonicMs });
}

function monotonicMs(): number {
  return performance.now();
}

async function warmUp(sides: Sides, { isQuick }: Options): Promise<void> {
  const { put, get } = await sides.works();
  const operations = WARM_UP_OPERATIONS / (isQuick ? 4 : 1);
  for (const work of [put.theirs, put.ours, get.theirs, get.ours]) {
    let left = operations / 4;
    const caller = async (): Promise<void> => {
      while (left > 0 && !stop.signal.aborted) {
        left -= 1;
        await work();
      }
    };
    await Promise.all(Array.from({ length: WARM_UP_IN_FLIGHT }, caller));
  }
}
