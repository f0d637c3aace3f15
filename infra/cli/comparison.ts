// A comparison from the command line: runs the plan, shows its progress and writes the report.
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROVIDERS } from '../../shared/lab/kit/dimensions.ts';
import { runPlan } from '../../shared/lab/plan/coordinator.ts';
import type { Endpoint } from '../../shared/lab/plan/endpoint.ts';
import type { CellRun, PlanEvent } from '../../shared/lab/plan/outcome.ts';
import type { Plan } from '../../shared/lab/plan/plan.ts';
import { against } from '../../shared/lab/report/against.ts';
import { type Condition, idleAmong, metBy } from '../../shared/lab/report/fail-conditions.ts';
import { cellsSoFar, reportOf } from '../../shared/lab/report/report.ts';
import type { Circumstances, Report } from '../../shared/lab/report/report-schema.ts';
import { curvesText, reportText } from '../../shared/lab/report/report-text.ts';
import { PRICES_2026_11 } from '../../shared/lab/cost/prices-2026-11.ts';
import { commitOf, versionsOf } from '../package/build-facts.ts';
import { given } from './command-options.ts';
import { EXIT } from './exit.ts';
import type { Baseline } from './plan-options.ts';
import { printableLines } from './print.ts';
import { showProgress } from './progress.ts';
import { writeReport } from './report-files.ts';

export interface ComparisonOptions {
  readonly plan: Plan;
  readonly baseline: Baseline;
  readonly endpoints: readonly Endpoint[];
  readonly circumstances: Pick<Circumstances, 'versions' | 'commit' | 'command'> &
    Partial<Pick<Circumstances, 'network'>>;
  /** Why a provider with an endpoint runs, and why another does not. */
  readonly why: { readonly ran: string; readonly leftOut: string };
  readonly outDir: string;
  /** Ends the plan, with a report of what was measured by then. Its reason is shown. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** The services end with the run, and their data with them. Default: they stay. */
  readonly endsWithRun?: boolean;
  /** Default the platform's. */
  readonly fetch?: typeof fetch;
}

/** Gives the exit code. Rejects only if the report cannot be written. */
export async function runComparison(options: ComparisonOptions): Promise<number> {
  const { plan, endpoints, circumstances, why, signal } = options;
  const providers = PROVIDERS.map((provider) => {
    const ran = endpoints.some((endpoint) => endpoint.provider === provider);
    return { provider, ran, why: ran ? why.ran : why.leftOut };
  });
  const started = new Date();
  const [progress, curves] = [showProgress(), firstCurves(plan, options.log)];
  const outcome = await runPlan(plan, `r${started.getTime().toString(36)}`, {
    endpoints,
    signal,
    onEvent: (event) => {
      progress(event);
      curves(event);
    },
    ...given({ endsWithRun: options.endsWithRun, fetch: options.fetch }),
  });
  const when = { startedAt: started.toISOString(), durationMs: Date.now() - started.getTime() };
  return await finish(
    reportOf(outcome, plan, PRICES_2026_11, {
      ...when,
      coordinator: machine(),
      providers,
      network: null,
      ...circumstances,
    }),
    options,
  );
}

/** Prints what the first block measured when the second one begins. */
function firstCurves({ repetitions }: Plan, log: (line: string) => void): (event: PlanEvent) => void {
  const runs: CellRun[] = [];
  let isTold = repetitions === 1;
  return (event) => {
    if (event.kind === 'ended') runs.push(event.run);
    if (isTold || event.kind !== 'begun' || event.repetition === 1) return;
    isTold = true;
    const curves = curvesText({ cells: cellsSoFar(runs, PRICES_2026_11) });
    log(printableLines(`\nThe first of ${repetitions} blocks, one run of each cell:\n\n${curves}\n`));
  };
}

async function finish(measured: Report, options: ComparisonOptions): Promise<number> {
  const { baseline, outDir, log } = options;
  const changed = baseline.report === undefined ? undefined : against(measured, baseline.report);
  const whole = changed === undefined ? measured : { ...measured, against: changed };
  const files = await writeReport(whole, outDir);
  log(printableLines(`\n${reportText(whole)}`));
  for (const file of files) log(`wrote ${path.relative(process.cwd(), file)}`);
  return verdictOf(whole, baseline.conditions, options);
}

function verdictOf(report: Report, conditions: readonly Condition[], { signal, log }: ComparisonOptions): number {
  const { cells, searches, failures, endedEarly } = report;
  const isWhole = failures.length === 0 && endedEarly === null;
  const met = metBy(report, conditions);
  for (const line of [...idleAmong(report, conditions), ...met]) log(line);
  if (met.length > 0 && isWhole) return EXIT.conditionMet;
  if (signal.aborted) return EXIT.interrupted;
  return isWhole && cells.length + searches.length > 0 ? EXIT.ok : EXIT.failed;
}

/** Packages whose versions may move the figures. */
const PACKAGES = [
  '@google-cloud/datastore',
  '@azure/data-tables',
  'azurite',
  '@google-cloud/functions-framework',
  '@azure/functions',
  'msgpackr',
];

function machine(): Circumstances['coordinator'] {
  const [first] = os.cpus();
  return {
    cpu: first?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    platform: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.versions.node,
  };
}

/** What is known of the sources that the module `entryUrl` runs from; a package has no commit. */
export async function sourceFacts(entryUrl: string): Promise<Pick<Circumstances, 'versions' | 'commit'>> {
  if (!entryUrl.endsWith('.ts')) return { versions: {}, commit: null };
  const root = fileURLToPath(new URL('../../', import.meta.url));
  return { versions: await versionsOf(root, PACKAGES), commit: await commitOf(root) };
}
