// A machine to deploy from: terraform, gcloud and az in memory, and functions that check what the
// real ones would check of a request.
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Cloud } from '../../../../infra/package/bundle.ts';
import type { Context } from '../../../../infra/plugin/context/deploy-context.ts';
import {
  DeployError,
  type FunctionSettings,
  type ProviderSettings,
  settingsOf,
} from '../../../../infra/plugin/context/deploy-settings.ts';
import { testFolder } from '../../../support/folder.ts';
import { startDeployed } from './deployed.ts';
import { makeTools } from './stand-in-tools.ts';

/** Settings as serverless.yml has them by default. */
const LIMITS = {
  timeoutSeconds: 60,
  memoryMb: 2_048 as const,
  concurrency: 32,
  instancesMax: { gcp: 4, azure: 40 },
  instancesMin: { gcp: 0, azure: 0 },
};
const FUNCTION_SETTINGS: Readonly<Record<string, Omit<FunctionSettings, 'name'>>> = {
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

export type Machine = Awaited<ReturnType<typeof startMachine>>;

/** Takes this process's PATH, until the test is over. */
export async function startMachine() {
  const outDir = await testFolder();
  const bin = await testFolder();
  for (const name of ['records', 'compare']) await writeFile(path.join(outDir, `azure-${name}.zip`), name);
  for (const tool of ['terraform', 'gcloud', 'az']) await writeFile(path.join(bin, tool), '', { mode: 0o755 });
  const deployed = await startDeployed();
  const tools = makeTools(deployed.outputs, deployed.secrets);
  const clock = testClock();
  const said: string[] = [];
  const before = process.env['PATH'];
  process.env['PATH'] = bin;
  onTestFinished(async () => {
    process.env['PATH'] = before;
    await deployed.close();
  });
  return {
    outDir,
    clock,
    deployed,
    /** Lines shown to the user. */
    said,
    ...tools,
    /** Puts a tool away. */
    without: (tool: string) => rm(path.join(bin, tool)),
    contextOf: (provider: Partial<ProviderSettings> = {}, service = 'stowage'): Context => ({
      settings: settingsOf(service, { ...PROVIDER_SETTINGS, ...provider }, FUNCTION_SETTINGS, outDir),
      run: tools.run,
      clock,
      log: (line) => void said.push(line),
    }),
    /** The variables of the last Terraform run. */
    variablesOf: async (cloud: Cloud) =>
      JSON.parse(await readFile(path.join(outDir, `${cloud}-dev.tfvars.json`), 'utf8')) as Record<string, unknown>,
  };
}

/** The message of a command that must fail. */
export async function failureOf(command: Promise<unknown>): Promise<string> {
  const error: unknown = await command.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(DeployError);
  return (error as DeployError).message;
}

/** Cloud and verb of every Terraform call. */
export function verbsOf(calls: readonly string[]): string[] {
  return calls.flatMap((call) => /^terraform (gcp|azure) (\w+)/.exec(call)?.slice(1).join(' ') ?? []);
}

/** Time passes when somebody waits, at once. */
export function testClock() {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    sleep: (ms: number) => {
      nowMs += ms;
      return Promise.resolve();
    },
    /** How long everybody has waited so far. */
    waitedMs: () => nowMs,
  };
}
