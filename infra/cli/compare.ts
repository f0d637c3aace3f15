// `stowage compare` and `serverless compare`: the comparison across deployed clouds, run from here: every cell runs inside a function,
// next to its store; this side only asks for cells, one after the other, and writes the report.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Endpoint, runPlan } from '../../shared/compare/plan/coordinator.ts';
import { PLANS } from '../../shared/compare/plan/plan.ts';
import { PRICES_2026_11 } from '../../shared/cost/prices-2026-11.ts';
import { reportOf } from '../../shared/compare/report/report.ts';
import { type AskTool, type CloudEndpoint, EndpointError, endpointsSchema, headersFor, urlOf } from './endpoints.ts';
import { machine } from './machine.ts';
import { showEvent } from './progress.ts';
import { writeReport } from './report-files.ts';

export interface CompareDeployedOptions {
  /** Path of the endpoints file that a deployment has written. */
  readonly endpointsFile: string;
  /** Which of its clouds take part. */
  readonly clouds: readonly CloudEndpoint['cloud'][];
  /** True runs every number of callers, with longer windows. */
  readonly isFull: boolean;
  /** Where compare.json and compare.html go. */
  readonly outDir: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly ask: AskTool;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

const PROVIDER_OF = { gcp: 'datastore', azure: 'azure-tables' } as const;

/** True if every cell succeeded; the report names those that failed. Rejects if there is nothing to compare, or the signal aborts. */
export async function compareDeployed(options: CompareDeployedOptions): Promise<boolean> {
  const { log, signal, outDir } = options;
  const { stage, endpoints } = await endpointsIn(options.endpointsFile);
  const clouds = endpoints.filter(({ cloud }) => options.clouds.includes(cloud));
  if (clouds.length === 0)
    throw new EndpointError(`${options.endpointsFile} names no function of ${options.clouds.join(' or ')}`);
  // Tokens last an hour, and the longest comparison takes less: they are asked for once.
  const targets: Endpoint[] = await Promise.all(
    clouds.map(async (cloud) => ({
      provider: PROVIDER_OF[cloud.cloud],
      urls: [urlOf(cloud, 'compare')],
      headers: await headersFor(cloud, 'compare', 'admin', options.ask),
    })),
  );
  const plan = options.isFull ? PLANS.full : PLANS.default;
  const started = new Date();
  log(`Comparing ${clouds.map(({ cloud }) => cloud).join(' and ')}, stage ${stage} ...`);
  const run = { endpoints: targets, signal, onEvent: showEvent };
  const outcome = await runPlan(plan, `r${started.getTime().toString(36)}`, run);
  const report = reportOf(outcome, plan, PRICES_2026_11, {
    startedAt: started.toISOString(),
    durationMs: Date.now() - started.getTime(),
    coordinator: machine(),
    versions: options.versions,
    commit: null,
    command: null,
    providers: targets.map(({ provider }) => ({ provider, ran: true, why: '' })),
  });
  const files = await writeReport(report, outDir);
  log(`\n${files.map((file) => `wrote ${path.relative(process.cwd(), file)}`).join('\n')}`);
  return report.failures.length === 0;
}

async function endpointsIn(file: string): Promise<ReturnType<typeof endpointsSchema.parse>> {
  try {
    return endpointsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    throw new EndpointError(
      `${file} does not name deployed functions: \`npx serverless deploy\` or \`info\` writes it`,
      {
        cause: error,
      },
    );
  }
}

const TOOL_TIMEOUT_MS = 120_000;

/** gcloud and az of this machine. */
export const askTool: AskTool = async (tool, args) => {
  try {
    const { stdout } = await promisify(execFile)(tool, [...args], { timeout: TOOL_TIMEOUT_MS });
    return stdout.trim();
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() ?? '';
    throw new Error(`${tool} ${args.slice(0, 3).join(' ')} failed: ${said === '' ? String(error) : said}`, {
      cause: error,
    });
  }
};
