// The guard against data loss, on plans of the real Terraform for a deployed stage, recorded with
// the real providers: what each plan takes away, and what the commands do about it.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Cloud } from '../../../infra/package/bundle.ts';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import { remove } from '../../../infra/plugin/commands/remove.ts';
import type { Context } from '../../../infra/plugin/context/deploy-context.ts';
import { failureOf, type Machine, startMachine, verbsOf } from './stand-ins/machine.ts';
import { RECORDED } from './stand-ins/stand-in-tools.ts';

const NOW = { isPlanOnly: false } as const;
const CONFIRMED = { isPlanOnly: false, isConfirmed: true } as const;
const KEPT = { isDataDeleted: false, isConfirmed: true } as const;
describe('the commands', () => {
  let machine: Machine;
  beforeEach(async () => {
    machine = await startMachine();
    await deploy(machine.contextOf(), NOW);
    machine.taken();
    machine.said.length = 0;
  });

  const changes = (): string[] =>
    machine.calls.filter((call) => /^terraform \w+ (apply|destroy)|lock delete|databases update/.test(call));

  test.each<readonly [Cloud, string, readonly string[]]>([
    ['gcp', 'region', ['location_id us-east4 -> europe-west1, from provider.gcp.databaseLocation']],
    ['gcp', 'location', ['google_firestore_database.store', 'location_id us-east4 -> eur3']],
    ['gcp', 'service', ['google_firestore_database.store', 'name stowage-dev -> other-dev']],
    ['gcp', 'place', ['google_firestore_database.store', 'project some-project -> other-project']],
    ['gcp', 'remove-data', ['google_firestore_database.store would be deleted']],
    [
      'azure',
      'replication',
      ['account_replication_type LRS -> ZRS, from provider.azure.replication', 'own conversion'],
    ],
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
    machine.answer({ to: 'terraform gcp show -json -no-color /', stdout: planOf('gcp', 'region'), times: 1 });
    machine.plans.gcp = 'fresh';
    await deploy(machine.contextOf({ cloud: 'gcp' }), { ...giveUp, isConfirmed: true });
    expect(changes().map((call) => call.split(' ').slice(0, 4).join(' '))).toEqual([
      'gcloud firestore databases update',
      'terraform gcp destroy -auto-approve',
      'terraform gcp apply -input=false',
    ]);
  });
});

function planOf(cloud: Cloud, name: string): string {
  return JSON.stringify(RECORDED[cloud].plans[name]);
}
