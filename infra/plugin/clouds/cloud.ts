// The interface of a cloud to the commands. gcp.ts and azure.ts implement it.
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Cloud } from '../../package/bundle.ts';
import { scheduleOf, type Settings } from '../context/settings.ts';
import type { Run } from '../context/tools.ts';

/** The account that deploys, found out before anything is changed. */
export interface Account {
  /** Google Cloud project, or Azure subscription. */
  readonly place: string;
  /** For people. */
  readonly who: string;
}

/** Something that is missing, and the command that mends it. */
export interface Missing {
  readonly what: string;
  readonly fix: string;
  /** The fix as a command that is free and deletes nothing, so that a deployment may run it by itself. */
  readonly mend?: readonly [tool: string, ...args: string[]];
}

export interface CloudSide {
  readonly cloud: Cloud;
  /** Checks everything at once, and pushes all that is missing onto `missing` instead of throwing. */
  check(run: Run, settings: Settings, missing: Missing[]): Promise<Account>;
  /** Values of infra/<cloud>/variables.tf, without the keys. */
  variables(settings: Settings, account: Account): Record<string, unknown>;
  /** From Terraform's outputs; undefined if there are no functions. Throws if the outputs are not what they should be. */
  endpoint(outputs: Readonly<Record<string, unknown>>, account: Account): CloudEndpoint | undefined;
  /** Uploads the packages, where Terraform does not. */
  upload(run: Run, endpoint: CloudEndpoint, settings: Settings): Promise<void>;
}

/** The variables that both clouds' folders have. */
export function commonVariables(
  cloud: Cloud,
  settings: Settings,
  packageOf: (name: string) => string,
): Record<string, unknown> {
  const { service, stage, store, alerts, functions } = settings;
  return {
    service,
    stage,
    region: settings[cloud].region,
    timeout_ms: store.timeoutMs,
    functions: Object.fromEntries(
      functions.map((one) => [
        one.name,
        {
          package: packageOf(one.name),
          timeout_seconds: one.timeoutSeconds,
          concurrency: one.concurrency,
          instances_min: one.instancesMin[cloud],
          instances_max: one.instancesMax[cloud],
          memory_mb: one.memoryMb,
          schedule: scheduleOf(one) ?? '',
        },
      ]),
    ),
    alerts:
      alerts === undefined
        ? null
        : { email: alerts.email, error_percent: alerts.errorPercent, latency_ms: alerts.latencyMs },
  };
}

/** The first line of what a tool printed; undefined if it failed or printed nothing. */
export async function asked(run: Run, tool: string, args: readonly string[]): Promise<string | undefined> {
  const { code, stdout } = await run(tool, args);
  const text = stdout.trim();
  return code === 0 && text !== '' ? text : undefined;
}
