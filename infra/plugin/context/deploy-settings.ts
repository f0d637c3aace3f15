// serverless.yml: its schema, which the framework checks before any hook, naming paths; and what it
// says, resolved by the framework, as the plugin works with it.
import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { type Cloud, CLOUDS, ROOT } from '../../package/bundle.ts';

const GCP_REGION = /^[a-z]+-[a-z]+[0-9]+$/;
const EMAIL = z.string().regex(/^[^@\s]+@[^@\s]+$/);
/** Checked here because the clouds would report it much later. */
const INSTANCES = z.int().min(1).max(1_000);
const INSTANCES_MIN = z.int().min(0).max(100);

const MEMBER = z.string().regex(/^(user|group|serviceAccount):[^@*\s]+@[^@*\s]+$/);

const gcp = z.strictObject({
  /** Empty: the one that gcloud is set to. */
  project: z.string().regex(/^([a-z][a-z0-9-]{4,28}[a-z0-9])?$/),
  region: z.string().regex(GCP_REGION),
  databaseLocation: z.string().regex(/^([a-z]+-[a-z]+[0-9]+|[a-z]{3,4}[0-9])?$/),
  pointInTimeRecovery: z.boolean(),
  /** 0: no backups. 14 weeks are the most that Firestore takes. */
  backupDays: z.int().min(0).max(98),
  processorsMax: z.int().min(1),
  namespace: z.string().regex(/^[0-9A-Za-z._-]{0,100}$/),
  /** IAM members. Empty: everybody who has deployed the stage. */
  deployers: z.array(MEMBER),
  invokers: z.array(z.string().regex(/^(deployer|(user|group|serviceAccount):[^@*\s]+@[^@*\s]+)$/)),
});

const azure = z.strictObject({
  /** Empty: the one that az is set to. */
  subscription: z.string().regex(/^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/),
  /** A deployment asks which regions offer Flex Consumption. */
  region: z.string().regex(/^[a-z]+[0-9]?$/),
  table: z.string().regex(/^[A-Za-z][A-Za-z0-9]{2,62}$/),
  replication: z.enum(['LRS', 'ZRS', 'GRS', 'GZRS']),
  /** Further logs are dropped until the next day. */
  logsGbDaily: z.number().gt(0),
  /** Object ids. Empty: everybody who has deployed the stage. */
  deployers: z.array(z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
});

const store = z.strictObject({
  timeoutMs: z.int().min(1).max(60_000),
  /** The size of all tables' containers; 0: the library's default. */
  containerBytesMax: z.union([z.literal(0), z.int().min(16_384).max(720_000)]),
  /** The drivers' own requests, or the clouds' SDKs; `auto`: the SDKs. */
  transport: z.enum(['auto', 'own', 'sdk']),
  otlpEndpoint: z.string().regex(/^(https?:\/\/[^\s]+)?$/),
  /** Pages of these origins may call `records`. */
  corsOrigins: z.array(z.string().regex(/^([*]|https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?)$/)),
});

/** `provider` in serverless.yml. */
const provider = z.object({
  // Names of both clouds are made of it, and the shortest of them allows 10 characters.
  stage: z.string().regex(/^[a-z][a-z0-9]{0,9}$/),
  cloud: z.enum(['gcp', 'azure', 'both']),
  state: z
    .string()
    .regex(/^(local|gs:\/\/[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]|azure:\/\/[a-z0-9]{3,24}\/[a-z0-9-]{3,63})$/),
  gcp,
  azure,
  store,
  peers: z
    .array(z.enum(['gcp', 'azure']))
    .min(1)
    .meta({ uniqueItems: true }),
  alerts: z
    .strictObject({
      email: EMAIL,
      errorPercent: z.number().gt(0).max(100),
      latencyMs: z.int().min(1),
      /** Fewer in five minutes say nothing. */
      requestsMin: z.int().min(1),
    })
    .optional(),
  budget: z
    .strictObject({
      amount: z.int().min(1),
      billingAccount: z.string().regex(/^[0-9A-F]{6}(-[0-9A-F]{6}){2}$/),
      email: EMAIL,
    })
    .optional(),
});

/** A function in serverless.yml, without its events. */
const declared = z.object({
  handler: z.string().regex(/^[\w./-]*\{cloud\}[\w./-]*\.ts$/),
  // Azure ends a caller's request after 230 s, which Terraform checks; a schedule has more.
  timeoutSeconds: z.int().min(1).max(1_800),
  memoryMb: z.literal([512, 2_048, 4_096]),
  concurrency: INSTANCES,
  /** The roles whose app keys it is given, and no other function. */
  keys: z.array(z.enum(['read', 'write', 'admin', 'compare'])),
  instancesMin: z.strictObject({ gcp: INSTANCES_MIN, azure: INSTANCES_MIN }),
  instancesMax: z.strictObject({ gcp: INSTANCES, azure: INSTANCES }),
});

export type ProviderSettings = z.infer<typeof provider>;
type DeclaredFunction = z.infer<typeof declared>;

export const PROVIDER_SCHEMA = { provider: jsonSchemaOf(provider), function: jsonSchemaOf(declared) };

/** The path of a function. It informs readers alone, as each function has an address of its own. */
export const HTTP_EVENT_SCHEMA = { type: 'string', pattern: '^/v1/[a-z]+$' } as const;

/** Five fields of cron, of numbers: both clouds read nothing else alike. */
export const SCHEDULE_EVENT_SCHEMA = {
  type: 'string',
  pattern: String.raw`^([\d*,/-]+( [\d*,/-]+){4})?$`,
  description: 'five fields of cron, of numbers, such as 0 4 * * 0; or empty',
} as const;

/** For the framework's validator, which adds properties of its own. */
function jsonSchemaOf(schema: z.ZodType) {
  const { properties, required } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  return { properties, required };
}

export interface FunctionSettings extends DeclaredFunction {
  readonly name: string;
  readonly events: readonly FunctionEvent[];
}

/** A path, or a schedule that is empty while the function is off. */
export type FunctionEvent = { readonly http: string } | { readonly schedule: string };

export interface Settings extends ProviderSettings {
  readonly service: string;
  /** The clouds that the command works on. */
  readonly clouds: readonly Cloud[];
  /** The deployed functions: without one whose schedule is empty. */
  readonly functions: readonly FunctionSettings[];
  /** The folder of packages, plans and endpoints. */
  readonly outDir: string;
}

/** Names are made of it, of which Google's accounts have 30 characters with stage and function. */
const SERVICE = /^[a-z][a-z0-9-]{1,10}$/;

/** Throws a DeployError on a service's name that the clouds would refuse. */
export function settingsOf(
  service: string,
  provider: ProviderSettings,
  functions: Readonly<Record<string, Omit<FunctionSettings, 'name'>>>,
  outDir: string,
): Settings {
  if (!SERVICE.test(service)) {
    throw new DeployError(
      `service: ${service} has to have 2 to 11 lower-case letters, digits and hyphens, beginning with a letter`,
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

/** Throws a DeployError that names the handlers whose files are missing. */
export function checkHandlers({ functions, clouds }: Settings): void {
  const missing = functions.flatMap(({ name, handler }) =>
    clouds
      .map((cloud) => handler.replace('{cloud}', cloud))
      .filter((file) => !existsSync(path.join(ROOT, file)))
      .map((file) => `functions.${name}.handler: there is no file ${file}`),
  );
  if (missing.length > 0) throw new DeployError(missing.join('\n'));
}

/** Cron in UTC; empty for an event with none; undefined for a function that callers call. */
export function scheduleOf({ events }: Pick<FunctionSettings, 'events'>): string | undefined {
  return events.find((event) => 'schedule' in event)?.schedule;
}

/** `auto` stays with the clouds' SDKs: nothing has shown that the own transport works there. */
export function transportOf({ store }: Pick<Settings, 'store'>): 'own' | 'sdk' {
  return store.transport === 'auto' ? 'sdk' : store.transport;
}

/** An error that the user can mend; the message says how. */
export class DeployError extends Error {}
