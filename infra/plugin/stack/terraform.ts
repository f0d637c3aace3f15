// Runs Terraform in one cloud's folder, where each stage is a workspace: tells it where the state
// is, reads what a plan takes away before it is applied, and says what to do after a refusal.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { type Cloud, ROOT } from '../../package/bundle.ts';
import type { Loss, Reason, StateResource } from '../clouds/cloud.ts';
import { type Ended, lastLines, type Run } from '../context/deploy-context.ts';
import { DeployError, type Settings } from '../context/deploy-settings.ts';

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

export type Terraform = ReturnType<typeof terraformOf>;

/** `tool`: terraform or tofu. */
export function terraformOf(run: Run, tool: string, cloud: Cloud, settings: Settings) {
  const dir = path.join(ROOT, 'infra', cloud);
  const fileOf = (ending: string): string => path.join(settings.outDir, `${cloud}-${settings.stage}.${ending}`);

  const call = async (args: readonly string[], isShown = false): Promise<Ended> => {
    const options = { env: { TF_IN_AUTOMATION: '1' }, isShown, timeoutMs: APPLY_TIMEOUT_MS };
    const ended = await run(tool, [`-chdir=${dir}`, ...args], options);
    if (ended.code === 0) return ended;
    const said = ended.stderr || ended.stdout;
    const seen = isShown ? 'see above' : lastLines(said);
    const otherwise = isShown ? 'Mend it, then give the same command: it goes on from there.' : undefined;
    const lines = [`${cloud}: ${tool} ${args[0]} failed: ${seen}`, adviceOn(said, tool, dir) ?? otherwise];
    throw new TerraformError(lines.filter((line) => line !== undefined).join('\n'), said);
  };

  const writeVariables = async (variables: object): Promise<string> => {
    await mkdir(settings.outDir, { recursive: true });
    const file = fileOf('tfvars.json');
    await writeFile(file, `${JSON.stringify(variables, undefined, 2)}\n`);
    return file;
  };

  return {
    /** Downloads the providers and selects the stage's workspace in the configured state. */
    async open(): Promise<void> {
      await writeBackend(dir, cloud, settings);
      await call(['init', '-input=false', '-no-color']);
      await call(['workspace', 'select', '-or-create=true', settings.stage]);
    },

    /** The outputs of the last apply; empty before the first. */
    async outputs(): Promise<Readonly<Record<string, unknown>>> {
      const { stdout } = await call(['output', '-json', '-no-color']);
      const outputs = JSON.parse(stdout) as Record<string, { value: unknown }>;
      return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));
    },

    async resources(): Promise<StateResource[]> {
      const { stdout } = await call(['show', '-json', '-no-color']);
      return STATE.parse(JSON.parse(stdout)).values?.root_module.resources ?? [];
    },

    /** Plans, shows the plan, and reads what it takes away. */
    async plan(variables: object): Promise<Planned> {
      const planFile = fileOf('plan');
      const varFile = await writeVariables(variables);
      await call(['plan', '-input=false', '-no-color', `-var-file=${varFile}`, `-out=${planFile}`], true);
      const { stdout } = await call(['show', '-json', '-no-color', planFile]);
      return { planFile, losses: lossesOf(stdout) };
    },

    async apply({ planFile }: Planned): Promise<void> {
      await call(['apply', '-input=false', '-no-color', planFile], true);
    },

    /** Destroys all that the state knows. */
    async destroy(variables: object): Promise<void> {
      const varFile = await writeVariables(variables);
      await call(['destroy', '-auto-approve', '-input=false', '-no-color', `-var-file=${varFile}`], true);
    },
  };
}

const CHANGE = z.object({
  address: z.string(),
  type: z.string(),
  action_reason: z.string().optional(),
  change: z.object({
    actions: z.array(z.string()),
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
    replace_paths: z.array(z.array(z.unknown())).optional(),
  }),
});

const PLAN = z.object({ resource_changes: z.array(CHANGE).default([]) });

type Change = z.infer<typeof CHANGE>;

/** Resources that a plan deletes or replaces. `json`: from `terraform show -json`. */
function lossesOf(json: string): Loss[] {
  const { resource_changes: changes } = PLAN.parse(JSON.parse(json));
  return changes.filter(isTakenAway).map(({ address, type, change }) => ({
    address,
    type,
    isReplaced: change.actions.includes('create'),
    reasons: (change.replace_paths ?? []).map((path) => reasonOf(path, change)),
  }));
}

/** Replacing a resource whose creation failed halfway is no loss. */
function isTakenAway({ change: { actions }, action_reason: reason }: Change): boolean {
  return actions.includes('delete') && reason !== 'replace_because_tainted';
}

function reasonOf(path: readonly unknown[], { before, after }: Change['change']): Reason {
  const attribute = String(path[0]);
  return { attribute, before: textOf(before?.[attribute]), after: textOf(after?.[attribute]) };
}

/** `..` for blocks, which are long, and for values that are not known yet. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '..';
}

/** Ignored by git: it follows from serverless.yml. */
const BACKEND_FILE = 'backend.tf.json';

/** Writes the backend's file into Terraform's folder, or takes it away for a local state. */
export async function writeBackend(
  dir: string,
  cloud: Cloud,
  { state, service }: Pick<Settings, 'state' | 'service'>,
): Promise<void> {
  const backend = backendOf(state, `${service}/${cloud}`);
  const file = path.join(dir, BACKEND_FILE);
  if (backend === undefined) await rm(file, { force: true });
  else await writeFile(file, `${JSON.stringify({ terraform: { backend } }, undefined, 2)}\n`);
}

/** The place in Terraform's words; undefined for `local`. Logins are those of deployments. */
function backendOf(state: string, prefix: string): object | undefined {
  const [, bucket] = /^gs:\/\/(.+)$/.exec(state) ?? [];
  if (bucket !== undefined) return { gcs: { bucket, prefix } };
  const [, account, container] = /^azure:\/\/(.+)\/(.+)$/.exec(state) ?? [];
  if (account === undefined) return undefined;
  return {
    azurerm: {
      storage_account_name: account,
      container_name: container,
      key: `${prefix}.tfstate`,
      use_azuread_auth: true,
    },
  };
}

/** Advice if Terraform finds that `state` was changed; undefined for other errors. */
function stateAdvice(said: string, tool: string, dir: string): string | undefined {
  if (!/-migrate-state|state migration/.test(said)) return undefined;
  const init = `${tool} -chdir=${path.relative(process.cwd(), dir) || '.'} init`;
  return [
    'serverless.yml has another `state` than this folder was last used with. Either, once and on one machine, take the state along:',
    `  ${init} -migrate-state`,
    'or, if that has been done elsewhere, forget the old place:',
    `  ${init} -reconfigure`,
  ].join('\n');
}

/** What to do after a refusal that does not say so. Terraform prints the refusal itself. */
const HINTS: readonly (readonly [said: RegExp, next: string])[] = [
  [
    /state (?:lock|blob is already locked)/i,
    'Somebody else is deploying this stage, or was interrupted: wait, or `terraform force-unlock` with the id above.',
  ],
  [
    /CpuAllocPerProjectRegion|max(imum)? instances must be set to|quota.*(total )?cpu allocation/i,
    'Cloud Run’s quota of processors in the region: lower instancesMax in serverless.yml, or ask for more at https://console.cloud.google.com/iam-admin/quotas?service=run.googleapis.com and raise processorsMax.',
  ],
  [
    /SubscriptionIsOverQuotaForSku|additional quota|(Regional|Flex).*quota|QuotaExceeded|Current Limit/i,
    'A quota of the subscription in this region: another --param azureRegion=REGION, a lower instancesMax, or a request for more at https://portal.azure.com under Quotas.',
  ],
  [
    /secrets (?:get|set|list|delete) permission/i,
    'The stage’s key vaults do not know you. One of its deployers adds your object id to provider.azure.deployers in serverless.yml and deploys; the id: az ad signed-in-user show --query id',
  ],
  [
    /AlreadyTaken|is already in use|NameNotAvailable/,
    'Somebody has that name already: another `service:` in serverless.yml makes other names.',
  ],
];

/** Advice on the first refusal that is known; undefined if none is. */
export function adviceOn(said: string, tool: string, dir: string): string | undefined {
  return stateAdvice(said, tool, dir) ?? HINTS.find(([pattern]) => pattern.test(said))?.[1];
}
