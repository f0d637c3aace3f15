// The benchmark, `npm run bench`: this store against the plain SDKs on both emulators, in one run, with the ratios of rates and of processor
// time that each kind of work is to reach. Exits 0 whether or not they are reached: it measures, it is no test.
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ProcessorTable } from '../../../shared/lab/cloud/data/processor.ts';
import { untilInterrupted } from '../../cli/interrupt.ts';
import { machine, versions } from '../../cli/machine.ts';
import { command, runCommand, UsageError } from '../../cli/options.ts';
import { bundleStatement } from './bundled.ts';
import { calibrate } from './calibrate.ts';
import { writeProcessorTable } from './calibration/file.ts';
import { type ColdStart, coldStarts } from './cold-starts.ts';
import type { ContestResult } from './contest/contest.ts';
import { contestsOf } from './contests.ts';
import { startAzure, startDatastore } from './providers.ts';
import { runScale } from './scale.ts';
import { statementsOf } from './statements.ts';
import { type StoredBytes, weighStored } from './stored.ts';
import {
  coldStartsText,
  loadsText,
  processorText,
  ratesText,
  type Statement,
  statementsText,
  storedText,
} from './text.ts';

const RTT_MAX_MS = 1_000;

const BENCH = command({
  name: 'npm run bench --',
  about: `Measures this store against the plain SDKs, on emulators on this machine: all contests in some 8 minutes. Exits 0 whether or not the
goals are reached.`,
  options: {
    quick: { help: 'fewer and shorter turns, below 2 minutes' },
    rtt: {
      value: 'MS',
      default: '0',
      help: 'every contest over a proxy with round trips of so many milliseconds, up to 1000',
    },
    calibrate: {
      help: 'no contests: measures the processor time of the clients and writes it to shared/lab/cloud/data, in 10 minutes and more',
    },
    scale: { help: 'no contests: 10,000 to 1,000,000 records, in memory and on Azurite' },
    json: { help: 'one JSON object on standard output, and nothing else' },
  },
  examples: ['npm run bench -- --quick', 'npm run bench -- --rtt 10 --json'],
});

const ROUNDS = 5;
const TURN_MS = 700;
const QUICK_ROUNDS = 3;
const QUICK_TURN_MS = 100;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CALIBRATION = { records: 10_000, callers: [1, 8, 32, 256], containerBytes: [64 * 1_024, 256 * 1_024, undefined] };
/** Processor time of one turn of a calibration. */
const PROCESSOR_MS = 60;
const QUICK_PROCESSOR_MS = 20;
/** Puts of each side, and as many gets, alone; and as many in company. */
const WARM_UP_OPERATIONS = 1_500;
const QUICK_WARM_UP_OPERATIONS = 250;

interface Options {
  readonly turnMs: number;
  readonly rounds: number;
  readonly rttMs: number;
  readonly isQuick: boolean;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

await runCommand(
  BENCH,
  process.argv.slice(2),
  async ({ values: { quick, calibrate: isCalibration, scale: isScale, json, rtt } }) => {
    const rttMs = rtt.trim() === '' ? NaN : Number(rtt);
    if (!(rttMs >= 0 && rttMs <= RTT_MAX_MS)) throw new UsageError(`--rtt is from 0 to ${RTT_MAX_MS} ms, not ${rtt}`);
    const [turnMs, rounds] = quick ? [QUICK_TURN_MS, QUICK_ROUNDS] : [TURN_MS, ROUNDS];
    const options = { rttMs, json, isQuick: quick, turnMs, rounds };
    const measure = isCalibration ? writeCalibration : isScale ? scale : run;
    return await untilInterrupted((signal) => measure({ ...options, signal }));
  },
);

/** All that a run measures. */
interface Results {
  readonly contests: ContestResult[];
  readonly stored: StoredBytes[];
  readonly coldStarts: ColdStart[];
  readonly statements: Statement[];
}

async function run(options: Options): Promise<void> {
  const { rounds, turnMs, rttMs, isQuick, signal } = options;
  const log = options.json ? (): void => {} : console.error;
  const results: Results = { contests: [], stored: [], coldStarts: [], statements: [] };
  const warmUpOperations = isQuick ? QUICK_WARM_UP_OPERATIONS : WARM_UP_OPERATIONS;
  const contests = { rounds: { count: rounds, turnMs }, rttMs, warmUpOperations, signal, log };
  const backends: string[] = [];
  for (const start of [startDatastore, startAzure]) {
    const provider = await start();
    backends.push(provider.backend);
    try {
      results.contests.push(...(await contestsOf(provider, contests)));
      results.stored.push(await weighStored(provider));
      results.statements.push(...(await statementsOf(provider, turnMs)));
    } finally {
      await provider.close();
    }
  }
  log('cold starts ...');
  results.coldStarts.push(...(await coldStarts(rounds, signal)));
  log('bundled and from source ...');
  results.statements.push(await bundleStatement(rounds, signal));
  print(results, backends, options);
}

function print(
  { contests, stored, coldStarts: cold, statements }: Results,
  backends: string[],
  options: Options,
): void {
  const on = machine();
  if (options.json) {
    console.log(JSON.stringify({ contests, stored, coldStarts: cold, statements, machine: { ...on, backends } }));
    return;
  }
  const tables = [ratesText(contests), processorText(contests), storedText(stored), coldStartsText(cold)];
  console.log(`\n${[...tables, statementsText(statements)].join('\n\n')}`);
  console.log(
    `\nMedians of ${options.rounds} alternating rounds on ${on.cores} x ${on.cpu}, Node.js ${on.node}: ${backends.join(', ')}.`,
  );
}

async function scale({ json, signal }: Options): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const results = await runScale(collect, json ? () => {} : console.log, signal);
  if (json) console.log(JSON.stringify({ scale: results, machine: machine() }));
}

async function writeCalibration({ isQuick, rounds, json, signal }: Options): Promise<void> {
  const { cpu, cores, platform, node } = machine();
  const log = json ? (): void => {} : console.error;
  const providers = [await startDatastore(), await startAzure()];
  try {
    const processorMs = isQuick ? QUICK_PROCESSOR_MS : PROCESSOR_MS;
    const size = { ...CALIBRATION, rounds, processorMs, signal, log };
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
