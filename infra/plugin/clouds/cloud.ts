// What the commands need of a cloud. gcp-cloud.ts and azure-cloud.ts implement it.
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Cloud } from '../../package/bundle.ts';
import type { Context, Run } from '../context/deploy-context.ts';
import { scheduleOf, type Settings, transportOf } from '../context/deploy-settings.ts';

/** The account that deploys, found out before anything is changed. */
export interface Account {
  /** Google Cloud project, or Azure subscription. */
  readonly place: string;
  readonly who: string;
  /** As Terraform grants rights: an IAM member, or an object id. Undefined if not known. */
  readonly principal?: string;
  /** Terraform's variables that only the cloud knows. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Something that is missing, and the command that mends it. */
export interface Missing {
  readonly what: string;
  readonly fix: string;
}

/** Something that a plan deletes or replaces. */
export interface Loss {
  /** The Terraform address, such as `google_firestore_database.store`. */
  readonly address: string;
  readonly type: string;
  /** It is made again, empty. */
  readonly isReplaced: boolean;
  /** Attributes that cannot change in place, and so replace the resource. */
  readonly reasons: readonly Reason[];
}

export interface Reason {
  readonly attribute: string;
  readonly before: string;
  readonly after: string;
}

export interface StateResource {
  readonly type: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The types of a cloud's resources that hold records, and those that serve. */
export interface Holdings {
  /** Addresses of resources that are deleted together with the records in them. */
  readonly data: readonly string[];
  /** The type of the resources that answer callers. */
  readonly functionType: string;
  /** The setting in serverless.yml behind an attribute that cannot change in place. */
  readonly settings: Readonly<Record<string, string>>;
  /** How to get what the changed setting asks for, and keep the data. */
  advice(loss: Loss): string;
}

export interface CloudSide {
  readonly cloud: Cloud;
  readonly holdings: Holdings;
  /** The environment variable that names the place. */
  readonly placeVariable: string;
  /** The place and the name (`stowage-dev`) of the stage that a resource in the state is of. */
  originOf(resource: StateResource): Readonly<Record<'place' | 'name', string | undefined>>;
  /** Checks all at once, and pushes what is missing onto `missing` instead of throwing. */
  check(run: Run, settings: Settings, missing: Missing[]): Promise<Account>;
  /** Values of infra/<cloud>/variables.tf. */
  variables(settings: Settings, account: Account, deployers: readonly string[]): Record<string, unknown>;
  /** From Terraform's outputs; undefined without functions. Throws on another shape. */
  endpoint(outputs: Readonly<Record<string, unknown>>, account: Account): CloudEndpoint | undefined;
  /** Whether an apply that failed so may succeed in minutes, as after a new role. */
  isPassing(said: string): boolean;
  /** Mends what each apply leaves wrong, and uploads changed packages. May be repeated. */
  settle(context: Context, endpoint: CloudEndpoint): Promise<void>;
  /** Has the functions read their app keys anew, without an update by Terraform. */
  rereadKeys(context: Context, endpoint: CloudEndpoint): Promise<void>;
  /** Lifts the protection of the data, so that it can be destroyed. */
  unprotect(run: Run, resources: readonly StateResource[]): Promise<void>;
}

/** The variables that both clouds' folders have. */
export function commonVariables(
  cloud: Cloud,
  settings: Settings,
  packageOf: (name: string) => string,
): Record<string, unknown> {
  const { service, stage, alerts, functions } = settings;
  return {
    service,
    stage,
    region: settings[cloud].region,
    environment: environmentOf(settings),
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
          keys: one.keys,
        },
      ]),
    ),
    alerts: alerts && {
      email: alerts.email,
      error_percent: alerts.errorPercent,
      latency_ms: alerts.latencyMs,
      requests_min: alerts.requestsMin,
    },
  };
}

/** Variables of functions/README.md; one that is left out has its default there. */
function environmentOf(settings: Settings) {
  const { timeoutMs, containerBytesMax, corsOrigins, otlpEndpoint } = settings.store;
  const transport = transportOf(settings);
  return {
    STOWAGE_TIMEOUT_MS: String(timeoutMs),
    ...(containerBytesMax > 0 && { STOWAGE_CONTAINER_BYTES_MAX: String(containerBytesMax) }),
    ...(otlpEndpoint !== '' && { OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint }),
    ...(corsOrigins.length > 0 && { STOWAGE_CORS_ORIGINS: corsOrigins.join(',') }),
    ...(transport !== 'own' && { STOWAGE_TRANSPORT: transport }),
  };
}

export function isServing({ functions }: Readonly<Record<string, unknown>>): boolean {
  return typeof functions === 'object' && functions !== null && Object.keys(functions).length > 0;
}

/** A tool's output, trimmed; undefined if it failed or printed nothing. */
export async function asked(run: Run, tool: string, args: readonly string[]): Promise<string | undefined> {
  const { code, stdout } = await run(tool, args);
  const text = stdout.trim();
  return code === 0 && text !== '' ? text : undefined;
}
