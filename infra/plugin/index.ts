// The Serverless Framework's plugin for this project: teaches it the provider `stowage`, which stands for both clouds. So far it carries
// the schema that serverless.yml is checked against; packaging and deployment are not here yet.

interface Serverless {
  setProvider(name: string, provider: object): void;
  readonly configSchemaHandler: {
    defineProvider(name: string, schema: object): void;
    defineFunctionEvent(provider: string, name: string, schema: object): void;
    defineCustomProperties(schema: object): void;
  };
}

const PROVIDER = 'stowage';

const LIMITS = {
  timeoutSeconds: { type: 'integer', minimum: 1, maximum: 230 },
  concurrency: { type: 'integer', minimum: 1, maximum: 1_000 },
  instancesMax: { type: 'integer', minimum: 1, maximum: 1_000 },
  memoryMb: { enum: [512, 2_048, 4_096] },
} as const;

export default class StowagePlugin {
  /** The framework looks for commands here; there are none yet. */
  readonly commands = {};
  readonly hooks = {};

  constructor(serverless: Serverless) {
    serverless.setProvider(PROVIDER, this);
    const schema = serverless.configSchemaHandler;
    schema.defineProvider(PROVIDER, {
      provider: {
        properties: {
          stage: { type: 'string' },
          gcp: object({ project: { type: 'string' }, region: { type: 'string' } }),
          azure: object({ subscription: { type: 'string' }, region: { type: 'string' } }),
        },
        required: ['gcp', 'azure'],
      },
      function: {
        properties: {
          handler: { type: 'string' },
          clouds: { type: 'array', items: { enum: ['gcp', 'azure'] } },
          ...LIMITS,
        },
        required: ['handler', 'clouds'],
      },
    });
    schema.defineFunctionEvent(PROVIDER, 'http', { type: 'string' });
  }
}

function object(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
