// terraform, gcloud and az in memory: they remember what was done, and answer well or as told.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Cloud, CLOUDS } from '../../../../infra/package/bundle.ts';
import { RESOURCE_PROVIDERS } from '../../../../infra/plugin/clouds/azure-cloud.ts';
import type { Ended, RunOptions } from '../../../../infra/plugin/context/deploy-context.ts';

interface Recorded {
  /** `terraform show -json` of a deployed stage. */
  readonly state: object;
  /** The same of plans for that stage, by the change in serverless.yml that leads to each. */
  readonly plans: Readonly<Record<string, object>>;
}

/**
 * What Terraform 1.11.4 said with the real providers, google 7.45.0 and azurerm 4.81.0, of a stage
 * that was deployed to clouds which stored what they were sent. ../recorded/reduce.ts leaves of it
 * what the plugin reads.
 */
export const RECORDED: Readonly<Record<Cloud, Recorded>> = { gcp: read('gcp'), azure: read('azure') };

function read(cloud: Cloud): Recorded {
  return JSON.parse(readFileSync(new URL(`../recorded/${cloud}.json`, import.meta.url), 'utf8')) as Recorded;
}

export interface Answer {
  /** How the call begins, such as `gcloud auth list` or `terraform gcp apply`. */
  readonly to: string;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
  /** How many calls are answered so, before others have their turn. Default: all. */
  readonly times?: number;
  /** Never answered. */
  readonly hangs?: boolean;
}

export const SUBSCRIPTION = '00000000-1111-2222-3333-444444444444';
/** What the subscription is not registered for. */
export const UNREGISTERED = 'Microsoft.KeyVault';
/** The object id of whoever is logged in at Azure. */
const CALLER = 'aaaaaaaa-0000-0000-0000-000000000001';
/** The claims are all that is read of a token; nobody checks the signature of this one. */
const TOKEN = `none.${Buffer.from(JSON.stringify({ oid: CALLER })).toString('base64url')}.none`;
const ROLES = ['read', 'write', 'admin', 'compare'];

export type Secrets = Readonly<Record<Cloud, ReturnType<typeof noKeys>>>;

/** By role: its secret's versions, the newest first, and the one that the functions have read. */
export function noKeys() {
  return { written: new Map<string, string[]>(), read: new Map<string, string>() };
}

export type Tools = ReturnType<typeof makeTools>;

/** `outputs`: Terraform's, after an apply. */
export function makeTools(outputs: Readonly<Record<Cloud, object>>, secrets: Secrets) {
  const calls: string[] = [];
  const plans: Record<Cloud, string> = { gcp: 'fresh', azure: 'fresh' };
  const tags = new Map<string, string>();
  /** By cloud, the variables of Terraform's last plan, and of its last apply. */
  const [planned, applied] = [new Map<Cloud, object>(), new Map<Cloud, object>()];
  let answers: { readonly given: Answer; left: number }[] = [];

  const apply = (cloud: Cloud): void => {
    applied.set(cloud, planned.get(cloud)!);
    for (const role of ROLES) {
      const { written, read } = secrets[cloud];
      if (written.has(role)) continue;
      const first = `first-${cloud}-key-of-${role}`;
      written.set(role, [first]);
      read.set(role, first);
    }
  };
  const terraform = async (cloud: Cloud, args: readonly string[]): Promise<string> => {
    const [verb = ''] = args;
    if (verb === 'plan') planned.set(cloud, JSON.parse(await readFile(option(args, '-var-file'), 'utf8')) as object);
    if (verb === 'apply') apply(cloud);
    if (verb === 'destroy') applied.delete(cloud);
    if (verb === 'output') return JSON.stringify(outputsOf(outputs[cloud], applied.get(cloud)));
    if (verb !== 'show') return `${verb} ${cloud}\n`;
    if (args.at(-1)!.endsWith('.plan')) return JSON.stringify(RECORDED[cloud].plans[plans[cloud]]);
    return JSON.stringify(applied.has(cloud) ? RECORDED[cloud].state : {});
  };

  const versionsOf = (cloud: Cloud, args: readonly string[]): string[] => {
    const [, role = ''] = /keys-(\w+)/.exec(args.join(' ')) ?? [];
    return secrets[cloud].written.get(role)!;
  };
  /** A function reads the keys of its own roles, in their newest version. */
  const readAgain = (cloud: Cloud, args: readonly string[]): string => {
    const roles = args.some((one) => one.includes('compare')) ? ['compare'] : ['read', 'write', 'admin'];
    for (const role of roles) secrets[cloud].read.set(role, secrets[cloud].written.get(role)![0]!);
    return '';
  };
  const commands: Readonly<Record<string, (args: readonly string[], input: string) => string>> = {
    'terraform version': () => '{ "terraform_version": "1.11.4" }',
    'gcloud auth list': () => 'somebody@example.com',
    'gcloud auth application-default print-access-token': () => 'a-token',
    'gcloud auth print-identity-token': () => 'an-identity-token',
    'gcloud config get-value project': () => 'some-project',
    'gcloud config get-value account': () => 'somebody@example.com',
    'gcloud projects describe': () => '123456789',
    'gcloud billing projects describe': () => 'True',
    'gcloud services list': () => 'cloudresourcemanager.googleapis.com\nserviceusage.googleapis.com',
    'gcloud firestore databases update': () => '',
    'az account show': () => `${SUBSCRIPTION}\tsomebody@example.com`,
    'az account list': () => SUBSCRIPTION,
    'az account get-access-token': () => TOKEN,
    'az provider list': () => RESOURCE_PROVIDERS.filter((one) => one !== UNREGISTERED).join('\n'),
    'az group list': () => '',
    'az functionapp list-flexconsumption-locations': () => 'eastus\nWest Europe',
    'az functionapp list-flexconsumption-runtimes': () => '20\n22\n24',
    'az functionapp keys list': () => 'an-azure-function-key',
    'az functionapp config appsettings list': () => '',
    'az functionapp deployment source config-zip': () => '',
    'az lock delete': () => '',
    'az tag list': (args) => tags.get(option(args, '--resource-id')) ?? '',
    'az tag update': (args) => {
      tags.set(option(args, '--resource-id'), option(args, '--tags').replace('package=', ''));
      return '';
    },
    'gcloud secrets versions list': (args) =>
      versionsOf('gcp', args)
        .map((_, index, all) => all.length - index)
        .join('\n'),
    'gcloud secrets versions access': (args) => {
      const versions = versionsOf('gcp', args);
      return versions[args[3] === 'latest' ? 0 : versions.length - Number(args[3])]!;
    },
    'gcloud secrets versions add': (args, input) => String(versionsOf('gcp', args).unshift(input)),
    'gcloud run services update': (args) => readAgain('gcp', args),
    'az keyvault secret list-versions': (args) =>
      versionsOf('azure', args).length > 1 ? `https://stowage-vault/secrets/${option(args, '--name')}/1` : '',
    'az keyvault secret show': (args) => versionsOf('azure', args)[args.includes('--id') ? 1 : 0]!,
    'az keyvault secret set': (args, input) => String(versionsOf('azure', args).unshift(input)),
    'az rest --method post': (args) => readAgain('azure', args),
    'az rest --method get': () => JSON.stringify({ value: ROLES.map(resolved) }),
  };

  const answerOf = async (tool: string, args: readonly string[], { input = '' }: RunOptions = {}): Promise<Ended> => {
    const cloud = CLOUDS.find((one) => args[0]?.endsWith(`infra/${one}`));
    const rest = cloud === undefined ? args : args.slice(1);
    const call = [tool, ...(cloud === undefined ? [] : [cloud]), ...rest].join(' ');
    calls.push(call);
    const told = answers.find(({ given, left }) => left > 0 && call.startsWith(given.to));
    if (told !== undefined) {
      told.left--;
      if (told.given.hangs === true) return await new Promise(() => {});
      return { code: 0, stdout: '', stderr: '', ...told.given };
    }
    if (cloud !== undefined) return { code: 0, stdout: await terraform(cloud, rest), stderr: '' };
    const known = Object.entries(commands).find(([begin]) => call.startsWith(begin));
    return known === undefined
      ? { code: 2, stdout: '', stderr: `not known here: ${call}` }
      : { code: 0, stdout: known[1](rest, input), stderr: '' };
  };

  return {
    run: answerOf,
    /** The name of the recorded plan that Terraform makes from now on, by cloud. */
    plans,
    /** Deviations from a machine where everything is in order; they replace the former ones. */
    answer: (...given: readonly Answer[]): void => {
      answers = given.map((one) => ({ given: one, left: one.times ?? Infinity }));
    },
    /** Every call so far, in order; Terraform's with the cloud in place of -chdir. */
    calls,
    /** Forgets the calls so far, and gives them. */
    taken: (): string[] => calls.splice(0),
  };
}

/** Terraform's outputs: nothing before an apply, and no functions where it was told of none. */
function outputsOf(outputs: object, variables: object | undefined): object {
  if (variables === undefined) return {};
  const { functions, deployers } = variables as { functions: object; deployers: unknown };
  const present = { ...outputs, deployers, ...(Object.keys(functions).length === 0 && { functions: {}, keys: {} }) };
  return Object.fromEntries(Object.entries(present).map(([name, value]) => [name, { value }]));
}

/** A reference to a secret that the app has got. */
function resolved(role: string): object {
  return { name: `STOWAGE_${role}`, properties: { status: 'Resolved', secretName: `keys-${role}` } };
}

/** The value of `--name value` or `-name=value`. */
function option(args: readonly string[], name: string): string {
  const joined = args.find((one) => one.startsWith(`${name}=`));
  return joined === undefined ? (args[args.indexOf(name) + 1] ?? '') : joined.slice(name.length + 1);
}
