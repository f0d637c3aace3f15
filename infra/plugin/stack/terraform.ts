// Runs Terraform in one cloud's folder, where each stage is a workspace.
import * as z from 'zod';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Cloud, ROOT } from '../../package/bundle.ts';
import { DeployError, type Settings } from '../context/deploy-settings.ts';
import { type Ended, lastLines, type Run } from '../context/cloud-tools.ts';
import type { Loss, StateResource } from '../clouds/cloud.ts';
import { hintFor } from './hints.ts';
import { stateAdvice, writeBackend } from './backend.ts';
import { lossesOf } from './losses.ts';

export interface Planned {
  readonly planFile: string;
  /** Resources that applying it takes away. */
  readonly losses: readonly Loss[];
}

/** Terraform, or a provider, refused. */
export class TerraformError extends DeployError {
  readonly said: string;

  constructor(message: string, said: string) {
    super(message);
    this.said = said;
  }
}

const RESOURCES = z.array(z.object({ type: z.string(), values: z.record(z.string(), z.unknown()) }));
const STATE = z.object({
  values: z.object({ root_module: z.object({ resources: RESOURCES.default([]) }) }).optional(),
});

/** Far above the minutes that a database or a first function takes to create. */
const APPLY_TIMEOUT_MS = 60 * 60_000;

export class Terraform {
  readonly #run: Run;
  readonly #tool: string;
  readonly #cloud: Cloud;
  readonly #settings: Settings;

  constructor(run: Run, tool: string, cloud: Cloud, settings: Settings) {
    this.#run = run;
    this.#tool = tool;
    this.#cloud = cloud;
    this.#settings = settings;
  }

  /** Downloads the providers and selects the stage's workspace in the configured state. */
  async open(): Promise<void> {
    await writeBackend(this.#dir, this.#cloud, this.#settings);
    await this.#do(['init', '-input=false', '-no-color']);
    await this.#do(['workspace', 'select', '-or-create=true', this.#settings.stage]);
  }

  /** The outputs of the last apply; empty before the first. */
  async outputs(): Promise<Readonly<Record<string, unknown>>> {
    const { stdout } = await this.#do(['output', '-json', '-no-color']);
    const outputs = JSON.parse(stdout) as Record<string, { value: unknown }>;
    return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));
  }

  async resources(): Promise<StateResource[]> {
    const { stdout } = await this.#do(['show', '-json', '-no-color']);
    return STATE.parse(JSON.parse(stdout)).values?.root_module.resources ?? [];
  }

  /** Plans, shows the plan, and reads what it takes away. */
  async plan(variables: object): Promise<Planned> {
    const planFile = this.#fileOf('plan');
    const varFile = await this.#varFile(variables);
    const args = ['plan', '-input=false', '-no-color', `-var-file=${varFile}`, `-out=${planFile}`];
    await this.#do(args, true);
    const { stdout } = await this.#do(['show', '-json', '-no-color', planFile]);
    return { planFile, losses: lossesOf(stdout) };
  }

  async apply({ planFile }: Planned): Promise<void> {
    await this.#do(['apply', '-input=false', '-no-color', planFile], true);
  }

  /** Destroys all that the state knows. */
  async destroy(variables: object): Promise<void> {
    const varFile = await this.#varFile(variables);
    const args = ['destroy', '-auto-approve', '-input=false', '-no-color', `-var-file=${varFile}`];
    await this.#do(args, true);
  }

  async #varFile(variables: object): Promise<string> {
    await mkdir(this.#settings.outDir, { recursive: true });
    const file = this.#fileOf('tfvars.json');
    await writeFile(file, `${JSON.stringify(variables, undefined, 2)}\n`);
    return file;
  }

  async #do(args: readonly string[], isShown = false): Promise<Ended> {
    const ended = await this.#run(this.#tool, [`-chdir=${this.#dir}`, ...args], {
      env: { TF_IN_AUTOMATION: '1' },
      isShown,
      timeoutMs: APPLY_TIMEOUT_MS,
    });
    if (ended.code !== 0) {
      const said = ended.stderr || ended.stdout;
      const seen = isShown ? 'see above' : lastLines(said);
      const next =
        stateAdvice(said, this.#tool, this.#dir) ??
        hintFor(said) ??
        (isShown ? 'Mend it, then give the same command: it goes on from there.' : '');
      const hint = next === '' ? '' : `\n${next}`;
      throw new TerraformError(`${this.#cloud}: ${this.#tool} ${args[0]} failed: ${seen}${hint}`, said);
    }
    return ended;
  }

  #fileOf(ending: string): string {
    return path.join(this.#settings.outDir, `${this.#cloud}-${this.#settings.stage}.${ending}`);
  }

  get #dir(): string {
    return path.join(ROOT, 'infra', this.#cloud);
  }
}
