// Stand-ins for terraform, gcloud and az, alone on PATH: each records its calls, and answers well
// or as told. Shell scripts, as a command calls two dozen.
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RESOURCE_PROVIDERS } from '../../../../infra/plugin/clouds/azure.ts';
import { testFolder } from '../../../support/folder.ts';

export interface Answer {
  /** How the call begins, such as `gcloud auth list` or `terraform gcp apply`. */
  readonly to: string;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
  /** Until it is interrupted. */
  readonly hangs?: boolean;
}

export type Tools = Awaited<ReturnType<typeof makeTools>>;

/** Terraform's outputs after an apply, by cloud. */
export type Outputs = Readonly<Record<'gcp' | 'azure', object>>;

const GCP_PROJECT = 'some-project';
export const SUBSCRIPTION = '00000000-1111-2222-3333-444444444444';

const IN_ORDER: readonly Answer[] = [
  { to: 'terraform version', stdout: '{ "terraform_version": "1.11.4" }' },
  { to: 'gcloud auth list', stdout: 'somebody@example.com' },
  { to: 'gcloud auth application-default print-access-token', stdout: 'a-token' },
  { to: 'gcloud config get-value project', stdout: GCP_PROJECT },
  { to: 'gcloud config get-value account', stdout: 'somebody@example.com' },
  { to: 'gcloud projects describe', stdout: '123456789' },
  { to: 'gcloud billing projects describe', stdout: 'True' },
  { to: 'gcloud services list', stdout: 'cloudresourcemanager.googleapis.com\nserviceusage.googleapis.com' },
  { to: 'gcloud auth print-identity-token', stdout: 'an-identity-token' },
  { to: 'gcloud secrets versions access', stdout: 'gcp-app-key-00000000' },
  { to: 'az account show', stdout: `${SUBSCRIPTION}\tsomebody@example.com` },
  { to: 'az account list', stdout: SUBSCRIPTION },
  { to: 'az account get-access-token', stdout: '2026-11-21 13:00:00' },
  { to: 'az provider list', stdout: RESOURCE_PROVIDERS.join('\n') },
  { to: 'az functionapp list-flexconsumption-locations', stdout: 'eastus\nWest Europe' },
  { to: 'az functionapp config appsettings list', stdout: '' },
  {
    to: 'az rest --method get',
    stdout: JSON.stringify({ value: ['read', 'write', 'admin', 'compare'].map(resolved) }),
  },
  { to: 'az functionapp keys list', stdout: 'an-azure-function-key' },
  { to: 'az keyvault secret show', stdout: 'azure-app-key-000000' },
];

/** A reference to a secret that the app has got. */
function resolved(role: string): object {
  return { name: `STOWAGE_${role}`, properties: { status: 'Resolved', secretName: `keys-${role}-1` } };
}

/** They go with the test. `outDir` is where the plugin writes Terraform's variables. */
export async function makeTools(outputs: Outputs, outDir: string) {
  const dir = await testFolder();
  const bin = path.join(dir, 'bin');
  const log = path.join(dir, 'calls.log');
  const away = new Set<string>();
  await mkdir(bin);
  for (const cloud of ['gcp', 'azure'] as const) {
    await writeFile(path.join(dir, `resources-${cloud}`), stateOf(DATA[cloud]));
    await writeFile(path.join(dir, `outputs-${cloud}`), wrapped({ ...outputs[cloud], keys_version: '@' }));
    await writeFile(
      path.join(dir, `outputs-data-${cloud}`),
      wrapped({ functions: null, keys: null, keys_version: '@' }),
    );
  }
  const answer = async (...answers: readonly Answer[]): Promise<void> => {
    for (const tool of ['terraform', 'gcloud', 'az']) {
      if (away.has(tool)) continue;
      await writeFile(path.join(bin, tool), scriptOf(tool, [...answers, ...IN_ORDER], { dir, outDir }));
      await chmod(path.join(bin, tool), 0o755);
    }
  };
  await answer();
  return {
    /** For PATH. */
    bin,
    /** A hanging tool leaves the file `hanging` here. */
    dir,
    /** Deviations from a machine where everything is in order; they replace the former ones. */
    answer,
    /** Puts a tool away. */
    async without(tool: string) {
      away.add(tool);
      await rm(path.join(bin, tool));
    },
    /** Every call so far, in order; Terraform's with the cloud in place of -chdir. Forgets them. */
    async calls() {
      const text = await readFile(log, 'utf8').catch(() => '');
      await rm(log, { force: true });
      return text.split('\n').filter((line) => line !== '');
    },
    /** The app keys that Terraform was given last, by role. */
    keysGiven: async (cloud: 'gcp' | 'azure') =>
      JSON.parse(await readFile(path.join(dir, `keys-${cloud}`), 'utf8')) as Record<string, string>,
  };
}

/** The resources that hold a stage's data, as Terraform's state has them. */
const DATA = {
  gcp: { type: 'google_firestore_database', values: { project: 'PLACE', name: 'NAME' } },
  azure: {
    type: 'azurerm_resource_group',
    values: { id: '/subscriptions/PLACE/resourceGroups/NAME-data', name: 'NAME-data' },
  },
};

function stateOf(resource: object): string {
  return JSON.stringify({ values: { root_module: { resources: [resource] } } });
}

function wrapped(outputs: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, { value }])));
}

function scriptOf(tool: string, answers: readonly Answer[], { dir, outDir }: { dir: string; outDir: string }): string {
  const cases = answers
    .filter(({ to }) => to.startsWith(`${tool} `))
    .map((one) => `  ${quoted(one.to)}*) ${bodyOf(one, tool, dir)} ;;`);
  return `#!/bin/sh
PATH=/usr/bin:/bin
case "$1" in
  -chdir=*) cloud="\${1##*/}"; shift; call="${tool} $cloud $*" ;;
  *) call="${tool} $*" ;;
esac
keys=''
if [ -n "$TF_VAR_keys" ]; then keys=' (with keys)'; printf '%s' "$TF_VAR_keys" > ${quoted(dir)}/"keys-$cloud"; fi
printf '%s%s\\n' "$call" "$keys" >> ${quoted(path.join(dir, 'calls.log'))}
case "$call" in
${cases.join('\n')}
esac
cd ${quoted(dir)}
case "$call" in
  *' plan '*) echo "Plan for $cloud: 21 to add" ;;
  *' apply '*) cp ${quoted(outDir)}/$cloud-*.tfvars.json "applied-$cloud" ;;
  *' show '*.plan) echo '{}' ;;
  *' show '*)
    if [ ! -e "applied-$cloud" ]; then echo '{}'; exit 0; fi
    place=$(sed -nE 's/.*"(project|subscription_id)": "(.*)".*/\\2/p' "applied-$cloud")
    name=$(sed -n 's/.*"service": "\\(.*\\)".*/\\1/p' "applied-$cloud")-dev
    sed "s/PLACE/$place/g; s/NAME/$name/g" "resources-$cloud" ;;
  *' output '*)
    if [ ! -e "applied-$cloud" ]; then echo '{}'; exit 0; fi
    version=$(sed -n 's/.*"keys_version": \\([0-9]*\\).*/\\1/p' "applied-$cloud")
    kind=''; grep -q '"data_only": true' "applied-$cloud" && kind='data-'
    sed "s/\\"@\\"/$version/" "outputs-$kind$cloud" ;;
esac
`;
}

function bodyOf({ stdout, stderr, code = 0, hangs }: Answer, tool: string, dir: string): string {
  if (hangs === true) {
    const ended = `echo '${tool} ended in order' >> ${quoted(path.join(dir, 'calls.log'))}; exit 1`;
    return `trap ${quoted(ended)} INT; : > ${quoted(path.join(dir, 'hanging'))}; while :; do sleep 0.1; done`;
  }
  const out = stdout === undefined ? '' : `printf '%s\\n' ${quoted(stdout)}; `;
  const err = stderr === undefined ? '' : `printf '%s\\n' ${quoted(stderr)} >&2; `;
  return `${out}${err}exit ${code}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
