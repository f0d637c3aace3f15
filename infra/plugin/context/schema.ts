// The schema of serverless.yml. The framework checks it before any hook, and names paths.
import * as z from 'zod';

/** Regions where Cloud Run functions run and Firestore has a location, as of 2026-11. */
const GCP_REGIONS = words(`
  africa-south1 asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-south2
  asia-southeast1 asia-southeast2 asia-southeast3 australia-southeast1 australia-southeast2 europe-central2
  europe-north1 europe-north2 europe-southwest1 europe-west1 europe-west2 europe-west3 europe-west4 europe-west6
  europe-west8 europe-west9 europe-west10 europe-west12 me-central1 me-central2 me-west1 northamerica-northeast1
  northamerica-northeast2 northamerica-south1 southamerica-east1 southamerica-west1 us-central1 us-east1
  us-east4 us-east5 us-south1 us-west1 us-west2 us-west3 us-west4
`);

/** Public regions as of 2026-11. A deployment asks which of them offer Flex Consumption. */
const AZURE_REGIONS = words(`
  australiacentral australiaeast australiasoutheast austriaeast belgiumcentral brazilsouth canadacentral
  canadaeast centralindia centralus chilecentral eastasia eastus eastus2 francecentral germanywestcentral
  indonesiacentral israelcentral italynorth japaneast japanwest koreacentral koreasouth malaysiawest
  mexicocentral newzealandnorth northcentralus northeurope norwayeast polandcentral qatarcentral
  southafricanorth southcentralus southeastasia southindia spaincentral swedencentral switzerlandnorth uaenorth
  uksouth ukwest westcentralus westeurope westindia westus westus2 westus3
`);

/** The words go into errors. */
const text = (form: RegExp, words: string) => z.string().regex(form).describe(words);

const EMAIL = text(/^[^@\s]+@[^@\s]+$/, 'an e-mail address');
/** Checked here because the clouds would report it much later. */
const INSTANCES = z.int().min(1).max(1_000);
const INSTANCES_MIN = z.int().min(0).max(100);

const MEMBER = text(
  /^(user|group|serviceAccount):[^@*\s]+@[^@*\s]+$/,
  'user:, group: or serviceAccount: and an address',
);

const gcp = z.strictObject({
  /** Empty: the one that gcloud is set to. */
  project: text(
    /^([a-z][a-z0-9-]{4,28}[a-z0-9])?$/,
    'the id of a project: 6 to 30 lower-case letters, digits and hyphens; or empty',
  ),
  region: z.enum(GCP_REGIONS),
  databaseLocation: z.enum(['', 'nam5', 'nam7', 'eur3', ...GCP_REGIONS]),
  pointInTimeRecovery: z.boolean(),
  /** 0: no backups. 14 weeks are the most that Firestore takes. */
  backupDays: z.int().min(0).max(98),
  processorsMax: z.int().min(1),
  namespace: text(/^[0-9A-Za-z._-]{0,100}$/, 'at most 100 letters, digits, dots, hyphens and underscores'),
  /** IAM members. Empty: whoever has deployed the stage so far, and whoever does. */
  deployers: z.array(MEMBER),
  invokers: z.array(z.string().regex(/^(deployer|(user|group|serviceAccount):[^@*\s]+@[^@*\s]+)$/)),
});

const azure = z.strictObject({
  /** Empty: the one that az is set to. */
  subscription: text(
    /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/,
    'the id of a subscription, in lower case; or empty',
  ),
  region: z.enum(AZURE_REGIONS),
  table: text(/^[A-Za-z][A-Za-z0-9]{2,62}$/, '3 to 63 letters and digits, the first a letter'),
  replication: z.enum(['LRS', 'ZRS', 'GRS', 'GZRS']),
  /** Further logs are dropped until the next day. */
  logsGbDaily: z.number().gt(0),
  /** Object ids. Empty: whoever has deployed the stage so far, and whoever does. */
  deployers: z.array(text(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'an object id, in lower case')),
});

const store = z.strictObject({
  timeoutMs: z.int().min(1).max(60_000),
  /** The size of all tables' containers; 0: the library's default. */
  containerBytesMax: z.union([z.literal(0), z.int().min(16_384).max(720_000)]),
  /** The drivers' own requests, or the clouds' SDKs. */
  transport: z.enum(['own', 'sdk']),
  otlpEndpoint: text(/^(https?:\/\/[^\s]+)?$/, 'an address such as https://collector:4318, or empty'),
  /** Pages of these origins may call `records`. */
  corsOrigins: z.array(
    text(/^([*]|https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?)$/, 'an origin such as https://example.com, or *'),
  ),
});

/** `provider` in serverless.yml. */
const provider = z.object({
  // Names of both clouds are made of it, and the shortest of them allows 10 characters.
  stage: text(/^[a-z][a-z0-9]{0,9}$/, '1 to 10 lower-case letters and digits, the first a letter'),
  cloud: z.enum(['gcp', 'azure', 'both']),
  state: text(
    /^(local|gs:\/\/[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]|azure:\/\/[a-z0-9]{3,24}\/[a-z0-9-]{3,63})$/,
    'local, gs://BUCKET or azure://ACCOUNT/CONTAINER',
  ),
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
      billingAccount: text(/^[0-9A-F]{6}(-[0-9A-F]{6}){2}$/, 'the id of a billing account, like 000000-000000-000000'),
      email: EMAIL,
    })
    .optional(),
});

/** A function in serverless.yml, without its events. */
const declared = z.object({
  handler: text(/^[\w./-]*\{cloud\}[\w./-]*\.ts$/, 'the path of a .ts file, with {cloud} for gcp and azure'),
  // Azure ends a caller's request after 230 s, which Terraform checks; a schedule has more.
  timeoutSeconds: z.int().min(1).max(1_800),
  memoryMb: z.literal([512, 2_048, 4_096]),
  concurrency: INSTANCES,
  instancesMin: z.strictObject({ gcp: INSTANCES_MIN, azure: INSTANCES_MIN }),
  instancesMax: z.strictObject({ gcp: INSTANCES, azure: INSTANCES }),
});

export type ProviderSettings = z.infer<typeof provider>;
export type DeclaredFunction = z.infer<typeof declared>;

export const PROVIDER_SCHEMA = { provider: jsonSchemaOf(provider), function: jsonSchemaOf(declared) };

/** A function's path; for readers, as each function has an address of its own. */
export const HTTP_EVENT_SCHEMA = { type: 'string', pattern: '^/v1/[a-z]+$' } as const;

/** Five fields of cron. Both clouds read them alike only while they hold numbers. */
export const SCHEDULE_EVENT_SCHEMA = {
  type: 'string',
  pattern: String.raw`^([\d*,/-]+( [\d*,/-]+){4})?$`,
  description: 'five fields of cron, of numbers, such as 0 4 * * 0; or empty',
} as const;

/** As the framework's validator reads it, which knows other properties beside these. */
function jsonSchemaOf(schema: z.ZodType) {
  const { properties, required } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  return { properties, required };
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
