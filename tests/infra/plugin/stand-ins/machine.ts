// A machine to deploy from: terraform, gcloud and az in memory, and functions that check what the
// real ones would check of a request.
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Cloud } from '../../../../infra/package/bundle.ts';
import type { Context } from '../../../../infra/plugin/context/deploy-context.ts';
import type { ProviderSettings } from '../../../../infra/plugin/context/settings-schema.ts';
import { DeployError, settingsOf } from '../../../../infra/plugin/context/deploy-settings.ts';
import { testFolder } from '../../../support/folder.ts';
import { testClock } from './clock.ts';
import { startDeployed } from './deployed.ts';
import { FUNCTION_SETTINGS, PROVIDER_SETTINGS } from './default-settings.ts';
import { makeTools } from './stand-in-tools.ts';

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
