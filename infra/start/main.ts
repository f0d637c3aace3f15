// The main job: both clouds on this machine, a record written and read through each, and the comparison.
// However the job ends, everything it started is closed, in reverse order.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runPlan, warmUp } from '../../shared/compare/plan/coordinator.ts';
import { FULL_PLAN, type Plan } from '../../shared/compare/plan/old-plan.ts';
import { PRICES_2026_11 } from '../../shared/cost/prices-2026-11.ts';
import { reportOf } from '../../shared/compare/report/report.ts';
import type { Report } from '../../shared/compare/report/old-schema.ts';
import { reportText } from '../../shared/compare/report/old-text.ts';
import { machine, versions } from '../cli/machine.ts';
import { runCommand } from '../cli/options.ts';
import { showProgress } from '../cli/progress.ts';
import { writeReport } from '../cli/report-files.ts';
import { type Clouds, startClouds } from './clouds.ts';
import { makeFolder } from './folder.ts';
import { runJob } from './job.ts';
import { START, type StartOptions, startOptionsOf } from './options.ts';
import { proveRecord } from './proof.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Google's emulator, in Java, is several times slower for its first ten thousand operations or so. */
const WARM_UP_MS = 10_000;

/** Ends a job that hangs: the full plan, with windows of 2 s, takes some 20 minutes. */
const JOB_TIMEOUT_MS = 45 * 60_000;

await runCommand(START, process.argv.slice(2), async (given) => {
  const options = startOptionsOf(given);
  await makeFolder('--out', options.outDir);
  return await runJob((signal) => run(options, signal));
});

async function run(options: StartOptions, signal: AbortSignal): Promise<number> {
  console.log(`Stowage on Node.js ${process.versions.node}. Starting emulators and functions ...`);
  const { datastore, providers } = options;
  const buildDir = path.join(ROOT, '.build');
  const clouds = await startClouds({ buildDir, datastore, providers, log: console.log, signal });
  try {
    for (const cloud of clouds.running) {
      const proof = await proveRecord(cloud, signal);
      console.log(
        `${cloud.name}: wrote and read a record of ${proof.sizeBytes} bytes in ${proof.durationMs} ms, byte for byte`,
      );
    }
    return await compare(clouds, options, signal);
  } finally {
    await clouds.close();
  }
}

async function compare(clouds: Clouds, { plan, outDir }: StartOptions, signal: AbortSignal): Promise<number> {
  const started = new Date();
  const runId = `r${started.getTime().toString(36)}`;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(jobTimeoutMs(plan))]);
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
  return await publish(report, clouds, outDir);
}

function jobTimeoutMs({ durationMs, concurrencies }: Plan): number {
  const longer = (durationMs * concurrencies.length) / (FULL_PLAN.durationMs * FULL_PLAN.concurrencies.length);
  return JOB_TIMEOUT_MS * Math.max(1, longer);
}

/** Writes the report. Returns exit code 1 if a cell failed: the report is then not the whole comparison. */
async function publish(report: Report, clouds: Clouds, outDir: string): Promise<number> {
  const files = await writeReport(report, path.resolve(outDir));
  console.log(`\n${reportText(report)}`);
  console.log(files.map((file) => `wrote ${path.relative(process.cwd(), file)}`).join('\n'));
  if (report.failures.length === 0) return 0;
  console.error(clouds.running.map((cloud) => `last output of ${cloud.name}:\n${cloud.output()}`).join('\n'));
  return 1;
}
