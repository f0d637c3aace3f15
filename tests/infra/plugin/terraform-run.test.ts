// What a run of Terraform is told and says: the place of its state, and advice after a refusal.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { Interrupted, patiently } from '../../../infra/plugin/context/deploy-context.ts';
import { PROVIDER_SCHEMA } from '../../../infra/plugin/context/deploy-settings.ts';
import { adviceOn, writeBackend } from '../../../infra/plugin/stack/terraform.ts';
import { testFolder } from '../../support/folder.ts';
import { testClock } from './stand-ins/machine.ts';

const PLACES = ['gs://some-project-stowage-state', 'azure://stowagestate0123/state'] as const;

test('serverless.yml takes a bucket or a container as the state’s place, and nothing else', () => {
  const { pattern } = PROVIDER_SCHEMA.provider.properties!['state'] as { readonly pattern: string };
  const all = ['local', ...PLACES, 's3://bucket', 'gs://', 'gs://Bucket', 'azure://account', 'elsewhere'];
  expect(all.filter((state) => new RegExp(pattern).test(state))).toEqual(['local', ...PLACES]);
});

test('both clouds’ states may share a place, and never a file; a local state needs none', async () => {
  const dir = await testFolder();
  const written = async (cloud: 'gcp' | 'azure', state: string) => {
    await writeBackend(dir, cloud, { state, service: 'stowage' });
    const file = path.join(dir, 'backend.tf.json');
    return (JSON.parse(await readFile(file, 'utf8')) as { terraform: { backend: object } }).terraform.backend;
  };
  expect(await written('gcp', PLACES[0])).toEqual({
    gcs: { bucket: 'some-project-stowage-state', prefix: 'stowage/gcp' },
  });
  expect(await written('azure', PLACES[1])).toEqual({
    azurerm: {
      storage_account_name: 'stowagestate0123',
      container_name: 'state',
      key: 'stowage/azure.tfstate',
      // By login: the account has no keys.
      use_azuread_auth: true,
    },
  });
  await writeBackend(dir, 'gcp', { state: 'local', service: 'stowage' });
  expect(await readdir(dir)).toEqual([]);
});

test.each([
  ['Backend configuration changed ... use "terraform init -migrate-state"', /init -migrate-state\n[^]*-reconfigure$/],
  ['Max instances must be set to 20 or fewer in order to set the requested total CPU.', /processorsMax/],
  ["Quota exceeded for quota metric 'CpuAllocPerProjectRegion'", /processorsMax/],
  ['Operation cannot be completed without additional quota.', /azureRegion/],
  ['SubscriptionIsOverQuotaForSku', /instancesMax/],
  ['The user does not have secrets get permission on key vault', /provider\.azure\.deployers/],
  ['StorageAccountAlreadyTaken: The storage account named x is already taken.', /another `service:`/],
  ['Error acquiring the state lock', /force-unlock/],
  ['Error: something else', /^undefined$/],
])('the refusal "%s" gets its advice', (said, part) => {
  expect(String(adviceOn(said, 'terraform', '.'))).toMatch(part);
});

const attempts = () => vi.fn<() => Promise<string>>();
const waiting = () => ({ log: () => {}, clock: testClock() });

test('a patient call does not repeat what the user interrupted', async () => {
  const attempt = attempts().mockRejectedValue(new Interrupted('az was interrupted'));
  await expect(patiently(waiting(), 'it failed', attempt)).rejects.toThrow('az was interrupted');
  expect(attempt).toHaveBeenCalledTimes(1);
});
