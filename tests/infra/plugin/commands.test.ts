// The commands that follow a deployment, on a machine whose terraform, gcloud and az are in memory.
// What plans take away is what the real Terraform said with the real providers of a deployed stage.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Cloud } from '../../../infra/package/bundle.ts';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import { findEndpoints, info } from '../../../infra/plugin/commands/info.ts';
import { changeKeys } from '../../../infra/plugin/commands/keys.ts';
import { remove } from '../../../infra/plugin/commands/remove.ts';
import type { Context } from '../../../infra/plugin/context/deploy-context.ts';
import { failureOf, type Machine, startMachine, verbsOf } from './stand-ins/machine.ts';
import { type Answer, RECORDED, SUBSCRIPTION } from './stand-ins/stand-in-tools.ts';

const NOW = { isPlanOnly: false } as const;
const CONFIRMED = { isPlanOnly: false, isConfirmed: true } as const;
const KEPT = { isDataDeleted: false, isConfirmed: true } as const;
const DELETED = { isDataDeleted: true, isConfirmed: true } as const;
const UNASKED = { isConfirmed: false } as const;
let machine: Machine;

beforeEach(async () => {
  machine = await startMachine();
  await deploy(machine.contextOf(), NOW);
  machine.taken();
  machine.said.length = 0;
});

test('info shows addresses, the commands that read app keys, and tables', async () => {
  await info(machine.contextOf());
  expect(machine.said.join('\n')).toMatch(
    /gcp\n[^]*http:\/\/127[^]*gcloud secrets versions access latest --secret=stowage-dev-keys-admin [^]*azure\n[^]*az keyvault secret show --vault-name stowage-vault --name keys-admin [^]*users/,
  );
});

test('info says what it cannot ask, and shows the rest', async () => {
  machine.deployed.answerWith('azure', 503);
  await info(machine.contextOf());
  expect(machine.said.join('\n')).toMatch(/tables {3}users[^]*tables {3}not known: Error: GET http:\S+ answered 503/);
});

test('credentials follow no redirect', async () => {
  for (const cloud of ['gcp', 'azure'] as const) machine.deployed.answerWith(cloud, 307);
  await info(machine.contextOf());
  await changeKeys(machine.contextOf(), { step: 'show' });
  expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('answered 307');
  expect(machine.deployed.requests.filter((one) => one.endsWith('/elsewhere'))).toEqual([]);
});

const COMMANDS: readonly ((context: Context) => Promise<unknown>)[] = [
  (context) => deploy(context, { isPlanOnly: true }),
  (context) => deploy(context, { ...NOW, ...DELETED }),
  (context) => remove(context, KEPT),
  (context) => remove(context, DELETED),
  (context) => changeKeys(context, { step: 'add' }),
  info,
  // `compare` asks where the functions are, as `info` does.
  findEndpoints,
];
const OTHER = '99999999-1111-2222-3333-444444444444';
const GCLOUD: Answer = { to: 'gcloud config get-value project', stdout: 'other' };
const AZ: Answer = { to: 'az account show', stdout: `${OTHER}\tsomebody@example.com` };
const PLACES: readonly (readonly ['gcp' | 'azure', string, readonly Answer[], string])[] = [
  ['gcp', 'stowage', [GCLOUD], 'some-project, and this command names stowage-dev in other.'],
  ['azure', 'stowage', [AZ], `${SUBSCRIPTION}, and this command names stowage-dev in ${OTHER}.`],
  ['gcp', 'other', [], 'some-project, and this command names other-dev in some-project.'],
  ['azure', 'other', [], `${SUBSCRIPTION}, and this command names other-dev in ${SUBSCRIPTION}.`],
];
test.each(PLACES)(
  'on %s, as the service %s, each command refuses a place other than the state’s, and names both',
  async (...row) => {
    const [cloud, service, answers, places] = row;
    machine.answer(...answers);
    for (const command of COMMANDS) {
      const message = await failureOf(command(machine.contextOf({ cloud }, service)));
      expect(message).toContain(`holds stowage-dev in ${places}`);
      expect(message).toMatch(/GOOGLE_CLOUD_PROJECT=some-project|AZURE_SUBSCRIPTION_ID=00000000-/);
    }
    const touching = /plan|apply|destroy|databases update|lock delete|secret/;
    expect(machine.calls.filter((call) => touching.test(call))).toEqual([]);
  },
);

const changes = (): string[] =>
  machine.calls.filter((call) => /^terraform \w+ (apply|destroy)|lock delete|databases update/.test(call));

test.each<readonly [Cloud, string, readonly string[]]>([
  ['gcp', 'region', ['location_id us-east4 -> europe-west1, from provider.gcp.databaseLocation']],
  ['gcp', 'location', ['google_firestore_database.store', 'location_id us-east4 -> eur3']],
  ['gcp', 'service', ['google_firestore_database.store', 'name stowage-dev -> other-dev']],
  ['gcp', 'place', ['google_firestore_database.store', 'project some-project -> other-project']],
  ['gcp', 'remove-data', ['google_firestore_database.store would be deleted']],
  ['azure', 'replication', ['account_replication_type LRS -> ZRS, from provider.azure.replication', 'own conversion']],
  ['azure', 'region', ['azurerm_resource_group.data', 'location eastus -> westeurope, from provider.azure.region']],
  ['azure', 'service', ['name stowage-dev-data -> other-dev-data']],
  ['azure', 'place', ['azurerm_storage_account.data']],
  ['azure', 'remove-data', ['azurerm_resource_group.data would be deleted']],
])('no command on %s deletes data by the plan %s', async (cloud, name, parts) => {
  machine.plans[cloud] = name;
  const commands: readonly ((context: Context) => Promise<void>)[] = [
    (context) => deploy(context, { ...CONFIRMED, isPlanOnly: true }),
    (context) => deploy(context, CONFIRMED),
    (context) => remove(context, KEPT),
  ];
  for (const command of commands) {
    const message = await failureOf(command(machine.contextOf({ cloud })));
    for (const part of ['DELETES THE DATA', ...parts]) expect(message).toContain(part);
  }
  expect(changes()).toEqual([]);
});

test.each<readonly [Cloud, string]>([
  ['gcp', 'unchanged'],
  ['gcp', 'backups'],
  ['gcp', 'protection'],
  ['azure', 'unchanged'],
  ['azure', 'in-place'],
  ['azure', 'protection'],
])('deploy on %s applies the plan %s without a question', async (cloud, name) => {
  machine.plans[cloud] = name;
  await deploy(machine.contextOf({ cloud }), NOW);
  expect(verbsOf(changes())).toEqual([`${cloud} apply`]);
});

test('deploy moves functions only after a yes', async () => {
  machine.plans.gcp = 'functions-region';
  expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('--yes agrees beforehand');
  expect(machine.said.join('\n')).toMatch(
    /takes functions away[^]*location us-east4 -> europe-west1, from provider.gcp.region/,
  );
  expect(changes()).toEqual([]);
  await deploy(machine.contextOf({ cloud: 'gcp' }), CONFIRMED);
  expect(verbsOf(changes())).toEqual(['gcp apply']);
});

test('deploy --delete-data deletes the data after a yes, and creates the rest again', async () => {
  machine.plans.gcp = 'region';
  const giveUp = { ...NOW, isDataDeleted: true } as const;
  expect(await failureOf(deploy(machine.contextOf(), giveUp))).toContain('--yes agrees beforehand');
  expect(machine.said.join('\n')).toContain('DELETES THE DATA on gcp');
  expect(changes()).toEqual([]);
  machine.answer({
    to: 'terraform gcp show -json -no-color /',
    stdout: JSON.stringify(RECORDED.gcp.plans['region']),
    times: 1,
  });
  machine.plans.gcp = 'fresh';
  await deploy(machine.contextOf({ cloud: 'gcp' }), { ...giveUp, isConfirmed: true });
  expect(changes().map((call) => call.split(' ').slice(0, 4).join(' '))).toEqual([
    'gcloud firestore databases update',
    'terraform gcp destroy -auto-approve',
    'terraform gcp apply -input=false',
  ]);
});

test('deleting data asks the user to type the places of the data', async () => {
  const both = `nobody is there to type "stowage-dev some-project ${SUBSCRIPTION}"`;
  expect(await failureOf(remove(machine.contextOf(), { ...UNASKED, isDataDeleted: true }))).toContain(both);
  expect(await failureOf(remove(machine.contextOf(), { ...UNASKED, isDataDeleted: false }))).toContain(
    'nobody is there to type "stowage-dev"',
  );
  expect(machine.calls.filter((call) => /apply|destroy|delete|update/.test(call))).toEqual([]);
});

test('remove keeps the data, and a deployment finds it again', async () => {
  Object.assign(machine.plans, { gcp: 'remove', azure: 'remove' });
  await remove(machine.contextOf(), KEPT);
  expect(verbsOf(machine.calls)).not.toContain('gcp destroy');
  expect(await machine.variablesOf('gcp')).toMatchObject({ functions: {} });
  await info(machine.contextOf());
  expect(machine.said.join('\n')).toContain('gcp: no functions are deployed');
  expect(await failureOf(changeKeys(machine.contextOf(), { step: 'show' }))).toContain('no functions are deployed');
  Object.assign(machine.plans, { gcp: 'fresh', azure: 'fresh' });
  await deploy(machine.contextOf(), NOW);
  expect(Object.keys((await machine.variablesOf('gcp'))['functions']!)).toEqual(['records', 'compare']);
});

test('remove --delete-data lifts the protection of what is there, then destroys', async () => {
  await remove(machine.contextOf(), DELETED);
  const changing = /databases update|lock delete|destroy/;
  const lock = `/subscriptions/${SUBSCRIPTION}/resourceGroups/stowage-dev-data/providers/Microsoft.Storage/storageAccounts/`;
  expect(machine.taken().filter((call) => changing.test(call))).toEqual([
    'gcloud firestore databases update --database=stowage-dev --project=some-project --no-delete-protection --quiet',
    expect.stringContaining('terraform gcp destroy -auto-approve'),
    expect.stringContaining(`az lock delete --ids ${lock}`),
    expect.stringContaining('terraform azure destroy -auto-approve'),
  ]);
  expect(machine.said.join('\n')).toContain('DELETES ITS DATA');
});

test('remove --delete-data goes on where it was cut off, and waits for a lock that was lifted', async () => {
  machine.answer(
    { to: 'terraform azure destroy', code: 1, stderr: 'Error: ScopeLocked', times: 1 },
    { to: 'az lock delete', code: 1, stderr: 'ERROR: (LockNotFound)' },
  );
  await remove(machine.contextOf({ cloud: 'azure' }), DELETED);
  expect(machine.clock.waitedMs()).toBe(60_000);
  expect(machine.said.at(-1)).toBe('azure: everything is gone');
});

test('a command for one cloud keeps the other’s endpoints in the file', async () => {
  await deploy(machine.contextOf({ cloud: 'azure' }), NOW);
  expect((await endpoints()).map(({ cloud }) => cloud).sort()).toEqual(['azure', 'gcp']);
  await remove(machine.contextOf({ cloud: 'gcp' }), KEPT);
  expect((await endpoints()).map(({ cloud }) => cloud)).toEqual(['azure']);
});

async function endpoints(): Promise<readonly { readonly cloud: string }[]> {
  const text = await readFile(path.join(machine.outDir, 'endpoints-dev.json'), 'utf8');
  return (JSON.parse(text) as { endpoints: { cloud: string }[] }).endpoints;
}
