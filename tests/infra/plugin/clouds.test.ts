// Whole deployments to clouds in memory, under the real Terraform: what the commands do to what is
// there, first, again, and after failures.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { RESOURCE_PROVIDERS } from '../../../infra/plugin/clouds/azure.ts';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import { changeKeys } from '../../../infra/plugin/commands/keys.ts';
import { remove } from '../../../infra/plugin/commands/remove.ts';
import type { ProviderSettings } from '../../../infra/plugin/context/schema.ts';
import { type CloudMachine, startCloudMachine } from './stand-ins/clouds/machine.ts';
import { failureOf } from './stand-ins/machine.ts';
import { PROVIDER_SETTINGS } from './stand-ins/settings.ts';
import { type Cloud, hasTerraform } from './stand-ins/terraform.ts';
import { SUBSCRIPTION } from './stand-ins/tools.ts';

const PATIENCE = { patienceMs: 5 * 60_000 } as const;
const NOW = { isPlanOnly: false, ...PATIENCE } as const;
const KEPT = { isDataDeleted: false, isConfirmed: true } as const;
const DELETED = { isDataDeleted: true, isConfirmed: true } as const;
const RECORD = '/v1/tables/users/records/ada';
let machine: CloudMachine;
/** Put the machine and its cloud back: to before the first deployment, and to after it. */
let asNew: () => Promise<void>;
let asDeployed: () => Promise<void>;

// A test runs Terraform up to forty times.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Deploys once: whatever is tried on a deployed stage begins with this one. */
async function startDeployed(cloud: Cloud): Promise<void> {
  machine = await startCloudMachine(cloud);
  asNew = await machine.keep();
  await deploy(machine.contextOf(), NOW);
  asDeployed = await machine.keep();
}

const azureWith = (changed: Partial<ProviderSettings['azure']>): Partial<ProviderSettings> => ({
  azure: { ...PROVIDER_SETTINGS.azure, ...changed },
});
const gcpWith = (changed: Partial<ProviderSettings['gcp']>): Partial<ProviderSettings> => ({
  gcp: { ...PROVIDER_SETTINGS.gcp, ...changed },
});

/** The stage's stored records, in its cloud. */
function records(): Map<string, string> {
  const [database] = machine.google.idsOf('google_firestore_database');
  return database === undefined ? machine.arm.recordsOf(account()) : machine.google.recordsOf(database);
}

function account(): string {
  return machine.arm.idsOf('azurerm_storage_account').find((id) => id.includes('/resourceGroups/stowage-dev-data/'))!;
}

/** Calls since `from` that change something. */
const changesSince = (from: number): string[] =>
  machine.calls.slice(from).filter((call) => /^terraform (apply|destroy)|lock delete|databases update/.test(call));

const uploadsSince = (from: number): string[] =>
  machine.calls.slice(from).filter((call) => call.includes('config-zip'));

describe.skipIf(!hasTerraform)('on Azure', () => {
  beforeAll(() => startDeployed('azure'));
  afterAll(() => machine.close());

  describe('at first', () => {
    beforeEach(() => asNew());

    test('resource providers are registered at the apply, and not for a plan', async () => {
      machine.arm.registered.clear();
      await deploy(machine.contextOf(), { ...NOW, isPlanOnly: true });
      expect([...machine.arm.registered]).toEqual([]);
      expect(machine.said.join('\n')).toContain(
        'Before it is applied: az provider register --namespace Microsoft.Web --wait',
      );
      await deploy(machine.contextOf(), NOW);
      expect([...machine.arm.registered].sort()).toEqual([...RESOURCE_PROVIDERS]);
    });

    test('who may not register them is told the command', async () => {
      machine.arm.registered.delete('Microsoft.Web');
      machine.fail('az provider register', 'ERROR: (AuthorizationFailed)');
      expect(await failureOf(deploy(machine.contextOf(), NOW))).toMatch(
        /Microsoft\.Web: missing[^]*AuthorizationFailed[^]*az provider register --namespace Microsoft\.Web --wait --subscription/,
      );
      expect(machine.arm.idsOf('azurerm_resource_group')).toEqual([]);
    });

    test('a second deployment heals what the first one left when it was cut off', async () => {
      machine.fail('az functionapp config appsettings', 'ERROR: no network');
      expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('no network');
      machine.fail(undefined);
      await deploy(machine.contextOf(), NOW);
      expect(machine.said.at(-2)).toContain('azurewebsites.net');
    });

    test('a key that does not arrive is named', async () => {
      machine.fail('az rest --method post', 'ERROR: (Conflict) try later');
      machine.arm.sites.isAnswering = false;
      expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('Conflict');
      machine.fail(undefined);
      expect(await failureOf(deploy(machine.contextOf(), NOW))).toMatch(
        /stowage-dev-\w+-\w+ does not get the secret keys-\w+-1 of the key vault stowagedev-\w+: AccessToKeyVaultDenied/,
      );
    });
  });

  describe('once deployed', () => {
    beforeEach(() => asDeployed());

    test('a first deployment works, and a second one changes nothing', async () => {
      const [applied, called] = [machine.sandbox.provider.applied.length, machine.calls.length];
      await deploy(machine.contextOf(), NOW);
      expect(machine.sandbox.provider.applied.slice(applied)).toEqual([]);
      expect(uploadsSince(called)).toEqual([]);
    });

    test('the package that changed is uploaded, and again if that broke off', async () => {
      const { outDir } = machine.contextOf().settings;
      const write = (code: string): Promise<void> => writeFile(path.join(outDir, 'azure-records.zip'), code);
      const upload = 'az functionapp deployment source config-zip';
      await write('other code');
      machine.fail(upload, 'ERROR: no network');
      expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('no network');
      machine.fail(undefined);
      const from = machine.calls.length;
      // Some of the other code may be there.
      await write('records');
      await deploy(machine.contextOf(), NOW);
      expect(uploadsSince(from)).toEqual([expect.stringContaining('azure-records.zip')]);
    });

    test('settings of the provider’s own go before the upload, after a change of keys too', async () => {
      const at = (part: string): number => machine.calls.findIndex((call) => call.includes(part));
      expect(at('appsettings delete')).toBeLessThan(at('config-zip'));
      await changeKeys(machine.contextOf(), { step: 'add', ...PATIENCE });
      for (const id of machine.arm.idsOf('azurerm_function_app_flex_consumption'))
        expect([...machine.arm.sites.settings(id).keys()].filter((name) => /Storage$|DEPLOYMENT/.test(name))).toEqual(
          [],
        );
    });

    test('apps get their keys, though their right to them is younger than they are', async () => {
      for (const id of machine.arm.idsOf('azurerm_function_app_flex_consumption'))
        expect(machine.arm.sites.references(id).map(({ status }) => status)).toEqual(Array(4).fill('Resolved'));
    });

    test('a refusal that the platform keeps is asked for again', async () => {
      const [app] = machine.arm.idsOf('azurerm_function_app_flex_consumption');
      machine.arm.sites.isAnswering = false;
      machine.arm.sites.refresh(app!);
      machine.arm.sites.isAnswering = true;
      await deploy(machine.contextOf(), NOW);
      expect(machine.said.join('\n').match(/azure: healthy/g)).toHaveLength(2);
    });

    test('a second person deploys once the first has named both, and takes no right away', async () => {
      const first = machine.arm.caller;
      const second = 'aaaaaaaa-0000-0000-0000-000000000002';
      machine.arm.caller = second;
      expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('provider.azure.deployers');
      machine.arm.caller = first;
      const both = machine.contextOf(azureWith({ deployers: [first, second] }));
      await deploy(both, NOW);
      machine.arm.caller = second;
      await deploy(both, NOW);
      // With nobody named, those who have deployed stay.
      await deploy(machine.contextOf(), NOW);
      machine.arm.caller = first;
      await deploy(machine.contextOf(), NOW);
      expect(machine.said.join('\n').match(/azure: healthy/g)).toHaveLength(5);
    });

    test('remove leaves the data under its lock, and the next deployment finds it', async () => {
      records().set(RECORD, '"ada"');
      await remove(machine.contextOf(), KEPT);
      expect(machine.arm.idsOf('azurerm_function_app_flex_consumption')).toEqual([]);
      expect(machine.arm.locks()).toHaveLength(1);
      await deploy(machine.contextOf(), NOW);
      expect(records().get(RECORD)).toBe('"ada"');
    });

    test('remove --delete-data lifts the lock first, then deletes the rest', async () => {
      const from = machine.calls.length;
      await remove(machine.contextOf(), DELETED);
      expect(changesSince(from).map((call) => call.split(' ').slice(0, 3).join(' '))).toEqual([
        'az lock delete',
        'terraform destroy -auto-approve',
      ]);
      expect(machine.said.join('\n')).toContain('DELETES ITS DATA');
      expect([...machine.arm.resources.keys()]).toEqual([]);
    });

    test('remove --delete-data goes on where it was cut off', async () => {
      machine.fail('terraform destroy', 'Error: no network');
      expect(await failureOf(remove(machine.contextOf(), DELETED))).toContain('destroy failed');
      machine.fail(undefined);
      await remove(machine.contextOf(), DELETED);
      expect([...machine.arm.resources.keys()]).toEqual([]);
    });

    test('under another service nothing is deleted', async () => {
      const from = machine.calls.length;
      expect(await failureOf(remove(machine.contextOf({}, 'warehouse'), DELETED))).toContain(
        `holds stowage-dev in ${SUBSCRIPTION}, and this command names warehouse-dev in ${SUBSCRIPTION}`,
      );
      expect(changesSince(from)).toEqual([]);
    });

    test('what changes in place is not refused', async () => {
      records().set(RECORD, '"ada"');
      await deploy(machine.contextOf(azureWith({ replication: 'GRS' })), NOW);
      expect(records().get(RECORD)).toBe('"ada"');
    });

    test('what Azure has converted is no change', async () => {
      machine.arm.resources.get(account())!.values['account_replication_type'] = 'ZRS';
      const applied = machine.sandbox.provider.applied.length;
      await deploy(machine.contextOf(azureWith({ replication: 'ZRS' })), NOW);
      expect(machine.sandbox.provider.applied.slice(applied)).toEqual([]);
    });

    test('the data goes with --delete-data, after a yes', async () => {
      records().set(RECORD, '"ada"');
      const moved = machine.contextOf(azureWith({ region: 'westeurope' }));
      expect(await failureOf(deploy(moved, { ...NOW, isDataDeleted: true }))).toContain('--yes agrees beforehand');
      expect(records().get(RECORD)).toBe('"ada"');
      await deploy(moved, { ...NOW, isDataDeleted: true, isConfirmed: true });
      expect(machine.arm.resources.get(account())!.values['location']).toBe('westeurope');
      expect(records().get(RECORD)).toBeUndefined();
    });

    test.each<readonly [string, Partial<ProviderSettings>, readonly string[]]>([
      [
        'another replication',
        azureWith({ replication: 'ZRS' }),
        ['account_replication_type LRS -> ZRS, from provider.azure.replication', '--sku Standard_ZRS --name default'],
      ],
      [
        'another replication with another region',
        azureWith({ replication: 'GZRS' }),
        ['deploy with `replication: GRS`, which changes in place', '--sku Standard_GZRS'],
      ],
      [
        'another region',
        azureWith({ region: 'westeurope' }),
        ['azurerm_resource_group.data', 'location eastus -> westeurope, from provider.azure.region'],
      ],
    ])('%s does not delete the data', async (_, provider, parts) => {
      const from = machine.calls.length;
      for (const command of [
        () => deploy(machine.contextOf(provider), { ...NOW, isPlanOnly: true }),
        () => deploy(machine.contextOf(provider), { ...NOW, isConfirmed: true }),
        () => changeKeys(machine.contextOf(provider), { step: 'add', isConfirmed: true, ...PATIENCE }),
        () => remove(machine.contextOf(provider), KEPT),
      ]) {
        const message = await failureOf(command());
        for (const part of ['DELETES THE DATA', ...parts]) expect(message).toContain(part);
      }
      expect(changesSince(from)).toEqual([]);
    });
  });
});

describe.skipIf(!hasTerraform)('on Google Cloud', () => {
  beforeAll(() => startDeployed('gcp'));
  afterAll(() => machine.close());

  describe('at first', () => {
    beforeEach(() => asNew());

    test.each([
      ['fails for another reason', 'Quota exceeded', 0, 'gcp: terraform apply failed'],
      ['cannot build a package', 'Build failed with status: FAILURE and message: npm error', 0, 'builds log ID'],
      ['has too few roles', 'missing permission on the build service account', 180_000, 'applied again, in vain'],
      ['knows no metric', 'Error 404: Cannot find metric(s) that match type = "a"', 180_000, 'applied again, in vain'],
    ])('an apply that %s: %s, is repeated for %d ms', async (_, cause, waitedMs, part) => {
      machine.fail('terraform apply', `Error: ${cause}`);
      expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain(part);
      expect(machine.clock.waitedMs()).toBe(waitedMs);
    });
  });

  describe('once deployed', () => {
    beforeEach(() => asDeployed());

    test('a first deployment waits for the roles of the build, and a second one changes nothing', async () => {
      expect(machine.clock.waitedMs()).toBe(60_000);
      expect(machine.said.join('\n')).toContain('not there yet');
      const applied = machine.sandbox.provider.applied.length;
      await deploy(machine.contextOf(), NOW);
      expect(machine.sandbox.provider.applied.slice(applied)).toEqual([]);
    });

    test('a second person deploys, and the first one still may', async () => {
      const first = machine.google.caller;
      machine.google.caller = 'another@example.com';
      await deploy(machine.contextOf(), NOW);
      machine.google.caller = first;
      await deploy(machine.contextOf(), NOW);
      expect(machine.google.invokersOf('stowage-dev-records')).toEqual([`user:${first}`, 'user:another@example.com']);
    });

    test('deployers who are named are all there are', async () => {
      machine.google.caller = 'another@example.com';
      const named = machine.contextOf(gcpWith({ deployers: ['user:another@example.com'] }));
      await deploy(named, NOW);
      expect(machine.google.invokersOf('stowage-dev-records')).toEqual(['user:another@example.com']);
    });

    test('functions are moved after a yes only, with their alerts, and find their data', async () => {
      const alerts = { email: 'ops@example.com', errorPercent: 1, latencyMs: 2_000, requestsMin: 100 };
      await deploy(machine.contextOf({ alerts }), NOW);
      records().set(RECORD, '"ada"');
      const from = machine.calls.length;
      const to = gcpWith({ region: 'europe-west1', databaseLocation: 'us-east4' });
      const moved = machine.contextOf({ ...to, alerts });
      expect(await failureOf(deploy(moved, NOW))).toContain('--yes agrees beforehand');
      expect(machine.said.join('\n')).toMatch(
        /takes functions away[^]*location us-east4 -> europe-west1, from provider.gcp.region/,
      );
      expect(changesSince(from)).toEqual([]);
      await deploy(moved, { ...NOW, isConfirmed: true });
      expect(records().get(RECORD)).toBe('"ada"');
    });

    test('remove keeps the data, and --delete-data deletes it, in whatever region the settings are', async () => {
      records().set(RECORD, '"ada"');
      await remove(machine.contextOf(), KEPT);
      expect(machine.google.idsOf('google_cloudfunctions2_function')).toEqual([]);
      await deploy(machine.contextOf(), NOW);
      expect(records().get(RECORD)).toBe('"ada"');
      await remove(machine.contextOf(gcpWith({ region: 'europe-west1' })), DELETED);
      expect(machine.google.idsOf('google_firestore_database')).toEqual([]);
    });

    test('in another project nothing is deleted, nor what a removal that broke off has left', async () => {
      const elsewhere = machine.contextOf(gcpWith({ project: 'other-project' }));
      const from = machine.calls.length;
      const named = 'holds stowage-dev in some-project, and this command names stowage-dev in other-project';
      expect(await failureOf(deploy(elsewhere, { ...NOW, isConfirmed: true }))).toContain(named);
      // The database is protected: the functions go, and Terraform's outputs before them.
      const args = [
        '-auto-approve',
        '-input=false',
        '-var=project=some-project',
        '-var=keys={}',
        '-var=data_only=true',
      ];
      expect((await machine.sandbox.terraform('destroy', ...args)).output).toContain('Delete Protection is enabled');
      expect(await failureOf(remove(elsewhere, DELETED))).toContain(named);
      expect(changesSince(from)).toEqual([]);
    });

    test('the data goes with deploy --delete-data, after a yes', async () => {
      records().set(RECORD, '"ada"');
      const moved = machine.contextOf(gcpWith({ region: 'europe-west1' }));
      await deploy(moved, { ...NOW, isDataDeleted: true, isConfirmed: true });
      expect([...records().keys()]).not.toContain(RECORD);
    });

    test.each<readonly [string, Partial<ProviderSettings>, string]>([
      [
        'another region',
        gcpWith({ region: 'europe-west1' }),
        'location_id us-east4 -> europe-west1, from provider.gcp.databaseLocation',
      ],
      ['another location', gcpWith({ databaseLocation: 'eur3' }), 'location_id us-east4 -> eur3'],
    ])('%s deletes neither the data nor the functions', async (_, provider, part) => {
      const from = machine.calls.length;
      const message = await failureOf(deploy(machine.contextOf(provider), { ...NOW, isConfirmed: true }));
      expect(message).toContain(part);
      expect(changesSince(from)).toEqual([]);
    });
  });
});
