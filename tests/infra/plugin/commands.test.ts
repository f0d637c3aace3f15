// The commands that follow a deployment, on a machine whose terraform, gcloud and az are in memory.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import { findEndpoints, info } from '../../../infra/plugin/commands/info.ts';
import { changeKeys } from '../../../infra/plugin/commands/keys.ts';
import { remove } from '../../../infra/plugin/commands/remove.ts';
import type { Context } from '../../../infra/plugin/context/deploy-context.ts';
import { failureOf, type Machine, startMachine, verbsOf } from './stand-ins/machine.ts';
import { type Answer, SUBSCRIPTION } from './stand-ins/stand-in-tools.ts';

const NOW = { isPlanOnly: false } as const;
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
