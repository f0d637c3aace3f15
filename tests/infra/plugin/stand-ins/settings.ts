// Settings as serverless.yml has them by default, for commands that run without the framework.
import type { ProviderSettings } from '../../../../infra/plugin/context/settings.ts';

const LIMITS = { timeoutSeconds: 60, memoryMb: 2_048, concurrency: 32, instancesMax: { gcp: 4, azure: 40 } };
export const FUNCTION_SETTINGS = {
  records: { handler: 'functions/{cloud}/records.ts', ...LIMITS },
  compare: { handler: 'functions/{cloud}/compare.ts', ...LIMITS },
};

export const PROVIDER_SETTINGS: ProviderSettings = {
  stage: 'dev',
  cloud: 'both',
  gcp: {
    project: '',
    region: 'us-central1',
    databaseLocation: '',
    namespace: '',
    deployers: [],
    invokers: ['deployer'],
  },
  azure: { subscription: '', region: 'eastus', table: 'stowage', replication: 'LRS', deployers: [] },
  store: { timeoutMs: 25_000 },
  peers: ['gcp', 'azure'],
};
