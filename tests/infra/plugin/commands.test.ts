// The commands that follow a deployment, on a machine with stand-ins for terraform, gcloud and az
// that write down how they were called.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import { findEndpoints, info, logs } from '../../../infra/plugin/commands/info.ts';
import { invoke } from '../../../infra/plugin/commands/invoke.ts';
import { changeKeys } from '../../../infra/plugin/commands/keys.ts';
import { remove } from '../../../infra/plugin/commands/remove.ts';
import type { Context } from '../../../infra/plugin/context/context.ts';
import { keyOwner } from '../../../infra/plugin/stack/key-change.ts';
import { AT_ONCE, failureOf, type Machine, startMachine, verbsOf } from './stand-ins/machine.ts';
import { type Answer, SUBSCRIPTION } from './stand-ins/tools.ts';

const NOW = { isPlanOnly: false, ...AT_ONCE } as const;
let machine: Machine;

beforeEach(async () => {
  machine = await startMachine();
});

test('logs prints the command that shows a function’s log, for each cloud', async () => {
  await logs(machine.contextOf(), 'records');
  const said = machine.said.join('\n');
  expect(said).toMatch(/gcloud logging read '.*service_name="stowage-dev-records"' --project=some-project/);
  expect(said).toMatch(/az monitor app-insights query .* --app stowage-dev .*startswith "stowage-dev-records-"/);
  expect(await failureOf(logs(machine.contextOf(), 'record'))).toContain('there are records, compare');
});

describe('once deployed', () => {
  beforeEach(async () => {
    await deploy(machine.contextOf(), NOW);
    await machine.tools.calls();
    machine.said.length = 0;
  });

  test('a second deployment keeps the version of the keys', async () => {
    await changeKeys(machine.contextOf(), { step: 'add', ...AT_ONCE });
    await deploy(machine.contextOf(), NOW);
    expect(await machine.variablesOf('gcp')).toMatchObject({ keys_version: 2 });
  });

  test('info shows addresses, where the credentials are, and tables', async () => {
    await info(machine.contextOf());
    expect(machine.said.join('\n')).toMatch(
      /gcp\n[^]*http:\/\/127[^]*stowage-dev-keys-admin version 1[^]*azure\n[^]*Key Vault stowage-vault[^]*users/,
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
    await invoke(machine.contextOf(), { function: 'records', data: '{"path":"/v1/tables"}' });
    const failure = await failureOf(changeKeys(machine.contextOf(), { step: 'add', ...AT_ONCE }));
    expect(failure).toContain('answered 307');
    expect(machine.deployed.requests.filter((one) => one.endsWith('/elsewhere'))).toEqual([]);
  });

  test('invoke sends a request to each cloud with its credentials', async () => {
    await invoke(machine.contextOf(), { function: 'records', data: '{"path":"/v1/tables"}' });
    expect(machine.said.join('\n').match(/HTTP 200\n\{"tables"/g)).toHaveLength(2);
  });

  test('invoke fails where the function does', async () => {
    machine.deployed.answerWith('azure', 500);
    expect(await failureOf(invoke(machine.contextOf(), { function: 'records' }))).toBe('azure answered 500');
  });

  test.each([
    [{ function: 'record' }, 'there is no function record; there are records, compare'],
    [{ function: 'records', data: '{"url":"/"}' }, 'Unrecognized key: "url"'],
    [{ function: 'records', data: 'nonsense' }, 'the data is to be like'],
  ])('invoke %j says what is wrong', async (options, part) => {
    expect(await failureOf(invoke(machine.contextOf(), options))).toContain(part);
  });

  const COMMANDS: readonly ((context: Context) => Promise<unknown>)[] = [
    (context) => deploy(context, { ...NOW, isPlanOnly: true }),
    (context) => deploy(context, { ...NOW, isDataDeleted: true, isConfirmed: true }),
    (context) => remove(context, { isDataDeleted: false, isConfirmed: true }),
    (context) => remove(context, { isDataDeleted: true, isConfirmed: true }),
    (context) => changeKeys(context, { step: 'add', isConfirmed: true, ...AT_ONCE }),
    info,
    (context) => logs(context, 'records'),
    (context) => invoke(context, { function: 'records' }),
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
    'on %s, as the service %s, no command plans for another place, and each names both',
    async (...row) => {
      const [cloud, service, answers, places] = row;
      await machine.tools.answer(...answers);
      for (const command of COMMANDS) {
        const message = await failureOf(command(machine.contextOf({ cloud }, service)));
        expect(message).toContain(`holds stowage-dev in ${places}`);
        expect(message).toMatch(/GOOGLE_CLOUD_PROJECT=some-project|AZURE_SUBSCRIPTION_ID=00000000-/);
      }
      const touching = /plan|apply|destroy|databases update|lock delete|secret/;
      expect((await machine.tools.calls()).filter((call) => touching.test(call))).toEqual([]);
    },
  );

  test('who deletes data types its places', async () => {
    const both = `nobody is there to type "stowage-dev some-project ${SUBSCRIPTION}"`;
    expect(await failureOf(remove(machine.contextOf(), { isDataDeleted: true, isConfirmed: false }))).toContain(both);
    expect(await failureOf(remove(machine.contextOf(), { isDataDeleted: false, isConfirmed: false }))).toContain(
      'nobody is there to type "stowage-dev"',
    );
  });

  test('remove keeps the data, and a deployment finds it again', async () => {
    await remove(machine.contextOf(), { isDataDeleted: false, isConfirmed: true });
    expect(verbsOf(await machine.tools.calls())).not.toContain('gcp destroy');
    expect(await machine.variablesOf('gcp')).toMatchObject({ data_only: true });
    await info(machine.contextOf());
    expect(machine.said.join('\n')).toContain('gcp: no functions are deployed');
    await deploy(machine.contextOf(), NOW);
    expect(await machine.variablesOf('gcp')).not.toHaveProperty('data_only');
  });

  test('new keys go in beside the old ones, and the old ones out in a step of its own', async () => {
    await changeKeys(machine.contextOf(), { step: 'add', ...AT_ONCE });
    expect(await machine.variablesOf('gcp')).toMatchObject({ keys_version: 2 });
    const { admin } = await machine.tools.keysGiven('gcp');
    expect(admin).toMatch(/^[\w-]{32},gcp-app-key-00000000$/);
    await machine.tools.answer(...withTwoKeys('gcp', 'azure'));
    expect(await failureOf(changeKeys(machine.contextOf(), { step: 'add' }))).toContain('two keys of each role');
    await changeKeys(machine.contextOf(), { step: 'retire', ...AT_ONCE });
    expect(await machine.variablesOf('azure')).toMatchObject({ keys_version: 3 });
    expect(await machine.tools.keysGiven('azure')).toMatchObject({ read: 'azure-app-key-000000' });
  });

  test('a caller has a key of its own, which the deployment’s own changes leave alone', async () => {
    const owner = keyOwner('billing(tables=orders-*;until=2027-01-31)', 'write');
    await changeKeys(machine.contextOf(), { step: 'add', owner, ...AT_ONCE });
    const { read, write } = await machine.tools.keysGiven('azure');
    expect(read).toBe('azure-app-key-000000');
    expect(write).toMatch(/^billing\(tables=orders-\*;until=2027-01-31\)=[\w-]{32},azure-app-key-000000$/);
    const lines = machine.said.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as object);
    const { role, text, name } = owner;
    expect(lines).toEqual(
      ['gcp', 'azure'].map((cloud) => ({
        audit: 'keys add',
        cloud,
        by: expect.stringMatching(/@/) as string,
        role,
        text,
        name,
        outcome: 'done',
      })),
    );
    expect(machine.said.join('\n')).not.toContain(/\)=([\w-]{32}),/.exec(write!)![1]);
    const callers = write!.slice(0, write!.indexOf(',') + 1);
    await machine.tools.answer(...withKeys(callers + OWN.gcp, 'gcp'), ...withKeys(callers + OWN.azure, 'azure'));
    await changeKeys(machine.contextOf(), { step: 'add', ...AT_ONCE });
    const own = await machine.tools.keysGiven('gcp');
    expect(own['write']).toMatch(/^[\w-]{32},gcp-app-key-00000000,billing\(/);
    expect(machine.said.join('\n')).toContain('write 1 + billing(tables=orders-*;until=2027-01-31)');
    await changeKeys(machine.contextOf(), { step: 'retire', owner, ...AT_ONCE });
    expect((await machine.tools.keysGiven('gcp'))['write']).toBe(OWN.gcp);
  });

  test.each([
    ['Billing', 'write', 'NAME(tables='],
    ['billing(tables=)', 'write', 'NAME(tables='],
    ['billing', 'owner', 'one of read, write, admin, compare'],
    ['billing', undefined, 'one of read, write, admin, compare'],
  ])('%s of the role %s is no caller', (text, role, said) => {
    expect(() => keyOwner(text, role)).toThrow(said);
  });

  test('has no key to retire where there is one of each role', async () => {
    expect(await failureOf(changeKeys(machine.contextOf(), { step: 'retire' }))).toContain('none to retire');
  });

  test('adds new keys where they are missing, after it failed on one cloud', async () => {
    await machine.tools.answer(...withTwoKeys('gcp'));
    await changeKeys(machine.contextOf(), { step: 'add', ...AT_ONCE });
    expect(verbsOf(await machine.tools.calls()).filter((verb) => verb.endsWith('apply'))).toEqual(['azure apply']);
    const { endpoints } = await endpointsFileOf(machine);
    expect(endpoints.map(({ cloud }) => cloud)).toEqual(['gcp', 'azure']);
  });

  test('a deployment keeps the keys that callers have, should a change of keys be half done', async () => {
    await machine.tools.answer(...withTwoKeys('azure'));
    await deploy(machine.contextOf(), NOW);
    expect(await machine.tools.keysGiven('gcp')).toMatchObject({ write: 'gcp-app-key-00000000' });
    expect(await machine.tools.keysGiven('azure')).toMatchObject({ read: 'azure-app-key-000000,an-older-one-0000000' });
  });

  test('what is done to one cloud leaves the other’s endpoints where they are', async () => {
    await deploy(machine.contextOf({ cloud: 'azure' }), NOW);
    expect((await endpointsFileOf(machine)).endpoints).toHaveLength(2);
    await remove(machine.contextOf({ cloud: 'gcp' }), { isDataDeleted: false, isConfirmed: true });
    expect((await endpointsFileOf(machine)).endpoints.map(({ cloud }) => cloud)).toEqual(['azure']);
  });
});

const OWN = { gcp: 'gcp-app-key-00000000', azure: 'azure-app-key-000000' };
const ASK = { gcp: 'gcloud secrets versions access', azure: 'az keyvault secret show' };

function withKeys(stdout: string, ...clouds: readonly ('gcp' | 'azure')[]): Answer[] {
  return clouds.map((cloud) => ({ to: ASK[cloud], stdout }));
}

function withTwoKeys(...clouds: readonly ('gcp' | 'azure')[]): Answer[] {
  return clouds.flatMap((cloud) => withKeys(`${OWN[cloud]},an-older-one-0000000`, cloud));
}

async function endpointsFileOf({ outDir }: Machine): Promise<{ endpoints: { cloud: string }[] }> {
  return JSON.parse(await readFile(path.join(outDir, 'endpoints-dev.json'), 'utf8')) as never;
}
