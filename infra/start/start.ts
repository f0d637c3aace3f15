// `npm start`: starts both clouds, writes and reads a record through each, and compares them.
import path from 'node:path';
import type { Endpoint } from '../../shared/lab/plan/endpoint.ts';
import { runPlan } from '../../shared/lab/plan/coordinator.ts';
import { planSchema } from '../../shared/lab/plan/plan.ts';
import { emulatorsWords } from '../../shared/lab/report/warnings.ts';
import type { Circumstances } from '../../shared/lab/report/report-schema.ts';
import { runComparison, sourceFacts } from '../cli/comparison.ts';
import { EXIT } from '../cli/exit.ts';
import { makeFolder } from '../cli/report-folder.ts';
import { runCommand } from '../cli/command-options.ts';
import { type Clouds, type RunningCloud, startClouds } from './local-clouds.ts';
import { runJob } from './job.ts';
import { START, type StartOptions, startOptionsOf } from './start-options.ts';
import { proveRecord } from './proof.ts';

/**
 * Runs first, and is not counted: emulators, and hosts whose code is not compiled yet, are several
 * times slower for their first ten thousand operations. Its failures are met again by the plan.
 */
const HEAT_UP = planSchema.parse({
  workloads: ['load', 'ycsb-a'],
  callers: [8],
  records: 500,
  durationMs: 800,
  warmup: { leastMs: 0, mostMs: 0, severalWritersMs: 0 },
  repetitions: 1,
});

/** Datasets are removed, and the report is written, before the processes are ended. */
const CLOSE_TIMEOUT_MS = 30_000;

await runCommand(START, process.argv.slice(2), async (given) => {
  const options = await startOptionsOf(given, process.argv.slice(2));
  await makeFolder('--out', options.outDir);
  return await runJob((signal) => run(options, signal), CLOSE_TIMEOUT_MS);
});

async function run(options: StartOptions, signal: AbortSignal): Promise<number> {
  console.log(`Stowage on Node.js ${process.versions.node}. Starting emulators and functions ...`);
  const { datastore, network, providers, plan } = options;
  const instances = Math.max(...plan.instances);
  const clouds = await startClouds({ datastore, network, providers, instances, log: console.log, signal });
  try {
    for (const cloud of clouds.running) await prove(cloud, signal);
    return await compare(clouds, options, signal);
  } finally {
    await clouds.close();
  }
}

async function prove({ name, recordsUrl, headers }: RunningCloud, signal: AbortSignal): Promise<void> {
  const text = JSON.stringify({ name: 'Zoë Müller-Østby', visits: 3, since: new Date().toISOString() });
  const startedMs = performance.now();
  const served = { url: recordsUrl, headers: headers('records') };
  await proveRecord(served, ['greetings', 'customer/Zoë 1'], text, signal);
  const tookMs = Math.round(performance.now() - startedMs);
  console.log(`${name}: wrote and read a record of ${Buffer.byteLength(text)} bytes in ${tookMs} ms, byte for byte`);
}

/** Gives the exit code. After Ctrl-C the report has what was measured by then. */
async function compare(clouds: Clouds, options: StartOptions, signal: AbortSignal): Promise<number> {
  const network = networkOf(options);
  console.log(`Measures ${emulatorsWords(network)}; no cloud was asked.`);
  const endpoints = clouds.running.map(({ provider, compareUrls, headers }): Endpoint => ({
    provider,
    urls: compareUrls,
    headers: headers('compare'),
  }));
  console.log('Warming up for about 5 s ...');
  const fetchIt = fetchFrom(clouds.running);
  const instances = [Math.max(...options.plan.instances)];
  await runPlan({ ...HEAT_UP, instances }, `h${Date.now().toString(36)}`, { endpoints, signal, fetch: fetchIt });
  signal.throwIfAborted();
  const code = await runComparison({
    ...options,
    outDir: path.resolve(options.outDir),
    endpoints,
    circumstances: { command: options.command, network, ...(await sourceFacts(import.meta.url)) },
    why: { ran: 'on this machine', leftOut: 'not asked for' },
    endsWithRun: true,
    log: console.log,
    signal,
    fetch: fetchIt,
  });
  if (code === EXIT.failed)
    console.error(clouds.running.map((cloud) => `last output of ${cloud.name}:\n${cloud.output()}`).join('\n'));
  return code;
}

function networkOf({ network, providers }: StartOptions): Circumstances['network'] {
  if (network.name === 'none') return null;
  const roundTrips = providers.map((provider) => {
    const { read, commit } = network.profiles[provider];
    return { provider, readMs: read.ms, commitMs: commit.ms };
  });
  return { name: network.name, roundTrips };
}

/** Fails at once, with the reason, if the emulator of the cloud has ended. */
function fetchFrom(running: readonly RunningCloud[]): typeof fetch {
  return async (input, init = {}) => {
    const { origin } = new URL(input instanceof Request ? input.url : input);
    const cloud = running.find(({ compareUrls }) => compareUrls.some((url) => new URL(url).origin === origin));
    const signals = [init.signal, cloud?.ended].filter((signal) => signal !== undefined && signal !== null);
    return await fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };
}
