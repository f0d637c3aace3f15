// The benchmark, `npm run bench`: this store against the plain SDKs on both emulators, in one run, with the ratio that each kind of work is to
// reach. Exits 0 whether or not they are reached: it measures, it is no test.
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Contest, type ContestResult, runContest } from '../../shared/compare/contest.ts';
import { type Goal, GOALS } from '../../shared/compare/contest-goals.ts';
import { Contestants } from '../../shared/compare/contest-sides.ts';
import { contestsText, type Statement, statementsText } from '../../shared/compare/contest-text.ts';
import { PROVIDER_NAMES } from '../../shared/compare/names.ts';
import { machine } from '../../functions/cli-machine.ts';
import { bundleStatement } from './bench/bundled.ts';
import { type BenchProvider, startAzure, startDatastore } from './bench/providers.ts';
import { runScale } from './bench/scale.ts';
import { statementsOf } from './bench/statements.ts';
import { weighStored } from './bench/stored.ts';

const HELP = `Measures this store against the plain SDKs, on emulators on this machine.

  npm run bench                    all contests, some 6 minutes
  npm run bench -- --quick         fewer and shorter turns, below 2 minutes
  npm run bench -- --rtt 10        every contest over a proxy with 10 ms round trips
  npm run bench -- --scale         10,000 to 1,000,000 records, in memory and on Azurite
  npm run bench -- --json          one JSON object on standard output, and nothing else`;

const ROUNDS = 5;
const TURN_MS = 700;
const QUICK_ROUNDS = 3;
const QUICK_TURN_MS = 120;
const FAR_RTT_MS = 10;
/** Google's emulator, in Java, is several times slower for its first ten thousand operations. */
const WARM_UP_OPERATIONS = 10_000;
const WARM_UP_IN_FLIGHT = 32;

interface Options {
  readonly turnMs: number;
  readonly rounds: number;
  readonly rttMs: number;
  readonly isQuick: boolean;
  readonly isScale: boolean;
  readonly json: boolean;
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => stop.abort(new Error(`ended by ${signal}`)));

const options = optionsOf(process.argv.slice(2));
if (options !== undefined) await (options.isScale ? scale(options) : run(options));

function optionsOf(args: readonly string[]): Options | undefined {
  const flag = { type: 'boolean', default: false } as const;
  const flags = { quick: flag, scale: flag, json: flag, help: flag, rtt: { type: 'string', default: '0' } } as const;
  try {
    const { values } = parseArgs({ args: [...args], options: flags });
    const rttMs = Number(values.rtt);
    if (!(rttMs >= 0 && rttMs <= 1_000)) throw new RangeError(`--rtt is from 0 to 1000 ms, not ${values.rtt}`);
    const [turnMs, rounds] = values.quick ? [QUICK_TURN_MS, QUICK_ROUNDS] : [TURN_MS, ROUNDS];
    const { json, quick, scale } = values;
    if (!values.help) return { rttMs, json, isQuick: quick, isScale: scale, turnMs, rounds };
    console.log(HELP);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    process.exitCode = 2;
  }
  return undefined;
}

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

async function contestsOf(provider: BenchProvider, options: Options): Promise<ContestResult[]> {
  const log = options.json ? (): void => {} : console.error;
  log(`${PROVIDER_NAMES[provider.provider]} on ${provider.backend}: warming up ...`);
  const near = new Contestants(await provider.venue(options.rttMs), 'bench');
  await near.load(monotonicMs);
  await warmUp(near, options);
  // What lies far away anyway is not moved further.
  const far = options.rttMs > 0 ? undefined : new Contestants(await provider.venue(FAR_RTT_MS), 'bench');
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
  contestants: Contestants,
  { turnMs, rounds, rttMs }: Options,
): Promise<ContestResult> {
  const goal = ratios[provider.provider];
  if (name === 'stored bytes') return weighStored(provider, contestants.records(), goal);
  const far = isFar ? FAR_RTT_MS : rttMs;
  const sides = (await contestants.sides())[name];
  const contest: Contest = { name, provider: provider.provider, inFlight, rttMs: far, goal, ...sides };
  return runContest(contest, { count: rounds, turnMs, signal: stop.signal, monotonicMs });
}

function monotonicMs(): number {
  return performance.now();
}

async function warmUp(contestants: Contestants, { isQuick }: Options): Promise<void> {
  const { put, get } = await contestants.sides();
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
