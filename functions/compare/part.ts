// A part of a comparison in a process of its own, such as a container that a platform starts as a job: the app of the function `compare` answers here,
// without a socket in between, and one file is left. The environment says what to do, as jobs have nothing else to tell one instance from another.
import * as z from 'zod/mini';
import { partFileName, type PlanPart } from '../../shared/compare/plan/part-file.ts';
import { type Plan, planOf, PLANS } from '../../shared/compare/plan/plan.ts';
import { runPlanPart } from '../../shared/compare/plan/plan-part.ts';
import type { Provider } from '../../shared/compare/dimensions.ts';
import { systemRuntime } from '../../shared/store/index.ts';
import type { App } from '../http/app.ts';
import { ConfigError, type Environment, parsedEnvironment } from '../instance/config.ts';

export interface PartJob {
  readonly plan: Plan;
  readonly part: PlanPart['part'];
  readonly startMs: number;
}

const JOB = z.object({
  STOWAGE_PLAN: z.prefault(z.string(), 'default'),
  STOWAGE_START: z.iso.datetime('expected a time such as 2026-11-22T12:00:00Z, the same for all parts'),
  STOWAGE_PART: z.optional(z.string().check(z.regex(/^\d{1,3}\/\d{1,3}$/, 'expected which of how many, such as 2/4'))),
  CLOUD_RUN_TASK_INDEX: z.optional(z.coerce.number().check(z.int(), z.minimum(0))),
  CLOUD_RUN_TASK_COUNT: z.optional(z.coerce.number().check(z.int(), z.minimum(1))),
});

/**
 * `STOWAGE_PLAN`: a plan's name, or its JSON. `STOWAGE_START`: when all parts begin. `STOWAGE_PART`: such as `2/4`; left out, Cloud Run's own index and
 * count of the job's tasks (https://cloud.google.com/run/docs/container-contract#jobs-env-vars). Throws a ConfigError.
 */
export function partJobOf(env: Environment): PartJob {
  const given = parsedEnvironment(JOB, env);
  return { plan: namedPlan(given.STOWAGE_PLAN), part: partOf(given), startMs: Date.parse(given.STOWAGE_START) };
}

function namedPlan(text: string): Plan {
  if (Object.hasOwn(PLANS, text)) return PLANS[text as keyof typeof PLANS];
  try {
    return planOf(text);
  } catch (error) {
    throw new ConfigError(
      `wrong environment: STOWAGE_PLAN: ${Object.keys(PLANS).join(', ')} or JSON: ${(error as Error).message}`,
    );
  }
}

function partOf({
  STOWAGE_PART: part,
  CLOUD_RUN_TASK_INDEX: task,
  CLOUD_RUN_TASK_COUNT: tasks,
}: z.output<typeof JOB>): PartJob['part'] {
  const [index, count] =
    part === undefined ? [task, tasks] : part.split('/').map((text, at) => Number(text) - (at === 0 ? 1 : 0));
  if (index === undefined || count === undefined)
    throw new ConfigError('wrong environment: STOWAGE_PART is missing, and no platform says which part this is');
  if (index < 0 || index >= count)
    throw new ConfigError(`wrong environment: STOWAGE_PART: there is no part ${index + 1} of ${count}`);
  return { index, count };
}

export interface PartRun {
  readonly job: PartJob;
  readonly provider: Provider;
  /** Of the function `compare`, open to everybody: nobody else reaches it. */
  readonly app: App;
  readonly signal: AbortSignal;
  /** Keeps a file of this name. */
  readonly keep: (name: string, text: string) => Promise<void>;
}

const ALIVE_MS = 60_000;

/** Runs the part, keeps its file, and resolves to an exit code: 0, or 1 where something of it failed. */
export async function runPartJob({ job, provider, app, signal, keep }: PartRun): Promise<number> {
  // Waiting for the start alone, or for the store, would not keep the process alive.
  const alive = setInterval(() => {}, ALIVE_MS);
  try {
    const part = await runPlanPart({
      ...job,
      endpoint: { provider, urls: ['http://localhost'], headers: {} },
      signal,
      fetch: async (input, init) => await app.fetch(new Request(input, init)),
      clock: systemRuntime,
    });
    await keep(partFileName(part), `${JSON.stringify(part)}\n`);
    return part.failures.length > 0 || part.runs.length === 0 || part.endedEarly !== null ? 1 : 0;
  } finally {
    clearInterval(alive);
  }
}
