// Settings as serverless.yml has them by default, for commands that run without the framework.
import type { ProviderSettings } from '../../../../infra/plugin/context/settings-schema.ts';
import type { FunctionSettings } from '../../../../infra/plugin/context/deploy-settings.ts';

const LIMITS = {
  timeoutSeconds: 60,
  memoryMb: 2_048 as const,
  concurrency: 32,
  instancesMax: { gcp: 4, azure: 40 },
  instancesMin: { gcp: 0, azure: 0 },
};
export const FUNCTION_SETTINGS: Readonly<Record<string, Omit<FunctionSettings, 'name'>>> = {
  records: {
    handler: 'functions/{cloud}/records.ts',
    ...LIMITS,
    keys: ['read', 'write', 'admin'],
    events: [{ http: '/v1/tables' }],
  },
  compare: {
    handler: 'functions/{cloud}/compare.ts',
    ...LIMITS,
    keys: ['compare'],
    events: [{ http: '/v1/compare' }],
  },
  vacuum: { handler: 'functions/{cloud}/vacuum.ts', ...LIMITS, keys: [], events: [{ schedule: '' }] },
};

export const PROVIDER_SETTINGS: ProviderSettings = {
  stage: 'dev',
  cloud: 'both',
  state: 'local',
  gcp: {
    project: '',
    region: 'us-east4',
    databaseLocation: '',
    pointInTimeRecovery: false,
    backupDays: 0,
    processorsMax: 20,
    namespace: '',
    deployers: [],
    invokers: ['deployer'],
  },
  azure: { subscription: '', region: 'eastus', table: 'stowage', replication: 'LRS', logsGbDaily: 1, deployers: [] },
  store: { timeoutMs: 25_000, containerBytesMax: 0, transport: 'auto', corsOrigins: [], otlpEndpoint: '' },
  peers: ['gcp', 'azure'],
};
