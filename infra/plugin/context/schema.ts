// The schema of serverless.yml. The framework checks it before any hook, and names paths.

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

const EMAIL = { type: 'string', pattern: String.raw`^[^@\s]+@[^@\s]+$`, description: 'an e-mail address' };
const CLOUDS = { enum: ['gcp', 'azure'] };
/** Checked here because the clouds would report it much later. */
const INSTANCES = { type: 'integer', minimum: 1, maximum: 1_000 };
const INSTANCES_MIN = { type: 'integer', minimum: 0, maximum: 100 };

const MEMBER = {
  type: 'string',
  pattern: String.raw`^(user|group|serviceAccount):[^@*\s]+@[^@*\s]+$`,
  description: 'user:, group: or serviceAccount: and an address',
};

const gcp = object({
  project: {
    type: 'string',
    pattern: '^([a-z][a-z0-9-]{4,28}[a-z0-9])?$',
    description: 'the id of a project: 6 to 30 lower-case letters, digits and hyphens; or empty',
  },
  region: { enum: GCP_REGIONS },
  databaseLocation: { enum: ['', 'nam5', 'nam7', 'eur3', ...GCP_REGIONS] },
  pointInTimeRecovery: { type: 'boolean' },
  // 14 weeks are the most that Firestore takes.
  backupDays: { type: 'integer', minimum: 0, maximum: 98 },
  processorsMax: { type: 'integer', minimum: 1 },
  namespace: {
    type: 'string',
    pattern: String.raw`^[0-9A-Za-z._-]{0,100}$`,
    description: 'at most 100 letters, digits, dots, hyphens and underscores',
  },
  deployers: { type: 'array', items: MEMBER },
  invokers: {
    type: 'array',
    items: { type: 'string', pattern: String.raw`^(deployer|(user|group|serviceAccount):[^@*\s]+@[^@*\s]+)$` },
  },
});

const azure = object({
  subscription: {
    type: 'string',
    pattern: '^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$',
    description: 'the id of a subscription, in lower case; or empty',
  },
  region: { enum: AZURE_REGIONS },
  table: {
    type: 'string',
    pattern: '^[A-Za-z][A-Za-z0-9]{2,62}$',
    description: '3 to 63 letters and digits, the first a letter',
  },
  replication: { enum: ['LRS', 'ZRS', 'GRS', 'GZRS'] },
  deployers: {
    type: 'array',
    items: {
      type: 'string',
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'an object id, in lower case',
    },
  },
});

export const PROVIDER_SCHEMA = {
  provider: {
    properties: {
      // Names of both clouds are made of it, and the shortest of them allows 10 characters.
      stage: {
        type: 'string',
        pattern: '^[a-z][a-z0-9]{0,9}$',
        description: '1 to 10 lower-case letters and digits, the first a letter',
      },
      cloud: { enum: ['gcp', 'azure', 'both'] },
      state: {
        type: 'string',
        pattern: '^(local|gs://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]|azure://[a-z0-9]{3,24}/[a-z0-9-]{3,63})$',
        description: 'local, gs://BUCKET or azure://ACCOUNT/CONTAINER',
      },
      gcp,
      azure,
      store: object({
        timeoutMs: { type: 'integer', minimum: 1, maximum: 60_000 },
        containerBytesMax: { anyOf: [{ const: 0 }, { type: 'integer', minimum: 16_384, maximum: 720_000 }] },
        transport: { enum: ['own', 'sdk'] },
        otlpEndpoint: {
          type: 'string',
          pattern: String.raw`^(https?://[^\s]+)?$`,
          description: 'an address such as https://collector:4318, or empty',
        },
        corsOrigins: {
          type: 'array',
          items: {
            type: 'string',
            pattern: '^([*]|https?://[a-z0-9.-]+(:[0-9]{1,5})?)$',
            description: 'an origin such as https://example.com, or *',
          },
        },
      }),
      peers: { type: 'array', items: CLOUDS, minItems: 1, uniqueItems: true },
      alerts: object({
        email: EMAIL,
        errorPercent: { type: 'number', exclusiveMinimum: 0, maximum: 100 },
        latencyMs: { type: 'integer', minimum: 1 },
      }),
      budget: object({
        amount: { type: 'integer', minimum: 1 },
        billingAccount: {
          type: 'string',
          pattern: '^[0-9A-F]{6}(-[0-9A-F]{6}){2}$',
          description: 'the id of a billing account, like 000000-000000-000000',
        },
        email: EMAIL,
      }),
    },
    required: ['stage', 'cloud', 'state', 'gcp', 'azure', 'store', 'peers'],
  },
  function: {
    properties: {
      handler: {
        type: 'string',
        pattern: String.raw`^[\w./-]*\{cloud\}[\w./-]*\.ts$`,
        description: 'the path of a .ts file, with {cloud} for gcp and azure',
      },
      // Azure ends a caller's request after 230 s, which Terraform checks; a schedule has more.
      timeoutSeconds: { type: 'integer', minimum: 1, maximum: 1_800 },
      memoryMb: { enum: [512, 2_048, 4_096] },
      concurrency: INSTANCES,
      instancesMin: object({ gcp: INSTANCES_MIN, azure: INSTANCES_MIN }),
      instancesMax: object({ gcp: INSTANCES, azure: INSTANCES }),
    },
    required: ['handler', 'timeoutSeconds', 'memoryMb', 'concurrency', 'instancesMin', 'instancesMax'],
  },
} as const;

/** A function's path; for readers, as each function has an address of its own. */
export const HTTP_EVENT_SCHEMA = { type: 'string', pattern: '^/v1/[a-z]+$' } as const;

/** Five fields of cron. Both clouds read them alike only while they hold numbers. */
export const SCHEDULE_EVENT_SCHEMA = {
  type: 'string',
  pattern: String.raw`^([\d*,/-]+( [\d*,/-]+){4})?$`,
  description: 'five fields of cron, of numbers, such as 0 4 * * 0; or empty',
} as const;

function object(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
