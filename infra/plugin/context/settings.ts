// serverless.yml, checked and resolved by the framework, as the plugin works with it.
import { type Cloud, CLOUDS } from '../../package/bundle.ts';

export interface FunctionSettings {
  readonly name: string;
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly concurrency: number;
  readonly instancesMin: Readonly<Record<Cloud, number>>;
  readonly instancesMax: Readonly<Record<Cloud, number>>;
  readonly events: readonly FunctionEvent[];
}

/** A path, or a schedule that is empty while the function is off. */
export type FunctionEvent = { readonly http: string } | { readonly schedule: string };

/** `provider` in serverless.yml; infra/plugin/context/schema.ts has checked it. */
export interface ProviderSettings {
  readonly stage: string;
  readonly cloud: Cloud | 'both';
  /** `local`, `gs://BUCKET` or `azure://ACCOUNT/CONTAINER`. */
  readonly state: string;
  readonly gcp: {
    /** Empty: the one that gcloud is set to. */
    readonly project: string;
    readonly region: string;
    readonly databaseLocation: string;
    readonly pointInTimeRecovery: boolean;
    /** 0: no backups. */
    readonly backupDays: number;
    readonly processorsMax: number;
    readonly namespace: string;
    readonly invokers: readonly string[];
    /** IAM members. Empty: whoever has deployed the stage so far, and whoever does. */
    readonly deployers: readonly string[];
  };
  readonly azure: {
    /** Empty: the one that az is set to. */
    readonly subscription: string;
    readonly region: string;
    readonly table: string;
    readonly replication: string;
    /** Object ids. Empty: whoever has deployed the stage so far, and whoever does. */
    readonly deployers: readonly string[];
  };
  readonly store: {
    readonly timeoutMs: number;
    /** The size of all tables' containers; 0: the library's default. */
    readonly containerBytesMax: number;
    /** The drivers' own requests, or the clouds' SDKs. */
    readonly transport: 'own' | 'sdk';
    /** The collector of traces; empty: none. */
    readonly otlpEndpoint: string;
    /** Pages of these origins may call `records`. */
    readonly corsOrigins: readonly string[];
  };
  readonly peers: readonly Cloud[];
  readonly alerts?: { readonly email: string; readonly errorPercent: number; readonly latencyMs: number };
  readonly budget?: {
    readonly amount: number;
    readonly billingAccount: string;
    readonly email: string;
  };
}

export interface Settings extends ProviderSettings {
  readonly service: string;
  /** The clouds that the command works on. */
  readonly clouds: readonly Cloud[];
  /** The deployed functions: without one whose schedule is empty. */
  readonly functions: readonly FunctionSettings[];
  /** The folder of packages, plans and endpoints. */
  readonly outDir: string;
}

/** The same as in Terraform's variables; the framework's own schema lets more through. */
const SERVICE = /^[a-z][a-z0-9-]{1,11}$/;

/** Throws a DeployError on a service's name that the clouds would refuse. */
export function settingsOf(
  service: string,
  provider: ProviderSettings,
  functions: Readonly<Record<string, Omit<FunctionSettings, 'name'>>>,
  outDir: string,
): Settings {
  if (!SERVICE.test(service)) {
    throw new DeployError(
      `service: ${service} has to have 2 to 12 lower-case letters, digits and hyphens, beginning with a letter`,
    );
  }
  const deployed = Object.entries(functions)
    .map(([name, settings]) => ({ ...settings, name }))
    .filter((one) => scheduleOf(one) !== '');
  return {
    ...provider,
    service,
    outDir,
    clouds: CLOUDS.filter((cloud) => provider.cloud === 'both' || provider.cloud === cloud),
    functions: deployed,
  };
}

/** Cron in UTC; empty for an event with none; undefined for a function that callers call. */
export function scheduleOf({ events }: Pick<FunctionSettings, 'events'>): string | undefined {
  for (const event of events) if ('schedule' in event) return event.schedule;
  return undefined;
}

/** An error that the user can mend; the message says how. */
export class DeployError extends Error {}
