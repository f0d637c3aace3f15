// The main job: both clouds on this machine, a record written and read through each, and the comparison.
// Whatever was started is closed again, in reverse order, however the job ends.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runPlan, warmUp } from '../../shared/compare/coordinator.ts';
import { DEFAULT_PLAN, FULL_PLAN } from '../../shared/compare/plan.ts';
import { PRICES_2026_11 } from '../../shared/compare/prices-2026-11.ts';
import type { Report } from '../../shared/compare/report.ts';
import { reportOf } from '../../shared/compare/report.ts';
import { reportText } from '../../shared/compare/report-text.ts';
import { onLauncherEnd } from './launcher.ts';
import { startClouds } from './start/clouds.ts';
import type { Clouds } from './start/clouds.ts';
import { machine, versions } from '../../functions/cli-machine.ts';
import { HELP, optionsOf, UsageError } from './start/options.ts';
import type { StartOptions } from './start/options.ts';
import { showProgress } from '../../functions/cli-progress.ts';
import { proveRecord } from './start/proof.ts';
import { writeReport } from '../../functions/cli-report.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Google's emulator, in Java, is several times slower for its first ten thousand operations or so. */
const WARM_UP_MS = 10_000;

/** A job that hangs anywhere ends by itself: the full ladder takes some 20 minutes. */
const JOB_TIMEOUT_MS = 45 * 60_000;

/** What shells expect after Ctrl-C. */
const EXIT_INTERRUPTED = 130;

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(signal));
onLauncherEnd(() => interrupt('the end of npm'));

/** A wish to end, not a failure. */
class Interruption extends Error {}

/** Whatever cannot be closed in order in this time dies with this process: its supervisor sees to that. */
const CLOSE_TIMEOUT_MS = 3_000;

function interrupt(signal: string): void {
  if (interrupted.signal.aborted) return;
  interrupted.abort(new Interruption(signal));
  setTimeout(() => process.exit(EXIT_INTERRUPTED), CLOSE_TIMEOUT_MS).unref();
}

process.exitCode = await start(process.argv.slice(2));

async function start(args: readonly string[]): Promise<number> {
  try {
    const options = optionsOf(args);
    if (options.help) {
      console.log(HELP);
      return 0;
    }
    return await run(options);
  } catch (error) {
    if (interrupted.signal.reason instanceof Interruption) {
      console.error(`\nended by ${interrupted.signal.reason.message}`);
      return EXIT_INTERRUPTED;
    }
    console.error(error instanceof UsageError ? error.message : error);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(options: StartOptions): Promise<number> {
  const { signal } = interrupted;
  console.log(`Stowage on Node.js ${process.versions.node}. Starting emulators and functions ...`);
  const { datastore } = options;
  const clouds = await startClouds({ buildDir: path.join(ROOT, '.build'), datastore, log: console.log, signal });
  try {
    for (const cloud of clouds.running) {
      const proof = await proveRecord(cloud, signal);
      console.log(
        `${cloud.name}: wrote and read a record of ${proof.sizeBytes} bytes in ${proof.durationMs} ms, byte for byte`,
      );
    }
    return options.dev ? await serve(clouds, signal) : await compare(clouds, options, signal);
  } finally {
    await clouds.close();
  }
}

/** Keeps everything up until Ctrl-C. */
async function serve(clouds: Clouds, signal: AbortSignal): Promise<number> {
  console.log('');
  for (const cloud of clouds.running) {
    console.log(`${cloud.name}\n  records  ${cloud.recordsUrl}/v1/tables\n  compare  ${cloud.compareUrl}/v1/compare`);
    for (const [name, value] of Object.entries(cloud.headers)) console.log(`  header   ${name}: ${value}`);
  }
  console.log('\nThe data is gone when this ends. Ctrl-C ends it.');
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    // A signal listener alone does not keep the process alive.
    const alive = setInterval(() => {}, 60_000);
    signal.addEventListener('abort', () => clearInterval(alive), { once: true });
  });
  return 0;
}

async function compare(clouds: Clouds, { full }: StartOptions, signal: AbortSignal): Promise<number> {
  const plan = full ? FULL_PLAN : DEFAULT_PLAN;
  const started = new Date();
  const runId = `r${started.getTime().toString(36)}`;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(JOB_TIMEOUT_MS)]);
  const endpoints = clouds.running.map(({ provider, compareUrl, headers }) => ({ provider, url: compareUrl, headers }));
  console.log(`Warming up for about ${WARM_UP_MS / 1_000} s ...`);
  await warmUp(WARM_UP_MS, runId, { endpoints, signal: limited });
  const progress = showProgress();
  const outcome = await runPlan(plan, runId, { endpoints, signal: limited, onProgress: progress.show }).finally(
    progress.end,
  );
  const report = reportOf(outcome, plan, PRICES_2026_11, {
    startedAt: started.toISOString(),
    durationMs: Date.now() - started.getTime(),
    machine: machine(),
    versions: await versions(ROOT),
    providers: clouds.all,
  });
  return await publish(report, clouds);
}

/** Exit code 1 if a cell failed: the report is there, but it is not the whole comparison. */
async function publish(report: Report, clouds: Clouds): Promise<number> {
  const files = await writeReport(report, path.join(ROOT, 'report'));
  console.log(`\n${reportText(report)}`);
  console.log(files.map((file) => `wrote ${path.relative(process.cwd(), file)}`).join('\n'));
  if (report.failures.length === 0) return 0;
  console.error(clouds.running.map((cloud) => `last output of ${cloud.name}:\n${cloud.output()}`).join('\n'));
  return 1;
}
