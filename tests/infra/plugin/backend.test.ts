// The state's place, and advice when it lies elsewhere.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { PROVIDER_SCHEMA } from '../../../infra/plugin/context/settings-schema.ts';
import { backendOf, stateAdvice, writeBackend } from '../../../infra/plugin/stack/backend.ts';
import { testFolder } from '../../support/folder.ts';

const STATE = PROVIDER_SCHEMA.provider.properties!['state'] as { readonly pattern: string };
const PLACES = ['gs://some-project-stowage-state', 'azure://stowagestate0123/state'] as const;

describe('the state', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await testFolder();
  });

  test.each(['local', ...PLACES])('serverless.yml takes %s as the state’s place', (state) => {
    expect(state).toMatch(new RegExp(STATE.pattern));
  });

  test.each(['s3://bucket', 'gs://', 'gs://Bucket', 'azure://account', 'elsewhere'])(
    'serverless.yml refuses %s as the state’s place',
    (state) => {
      expect(state).not.toMatch(new RegExp(STATE.pattern));
    },
  );

  test('both clouds’ states may share a place, and never a file', () => {
    expect(backendOf(PLACES[0], 'stowage/gcp')).toEqual({
      gcs: { bucket: 'some-project-stowage-state', prefix: 'stowage/gcp' },
    });
    // By login: the account has no keys.
    expect(backendOf(PLACES[1], 'stowage/azure')).toEqual({
      azurerm: {
        storage_account_name: 'stowagestate0123',
        container_name: 'state',
        key: 'stowage/azure.tfstate',
        use_azuread_auth: true,
      },
    });
  });

  test('the plugin tells Terraform the place in a file, and removes it when the state is local again', async () => {
    await writeBackend(dir, 'gcp', { state: PLACES[0], service: 'stowage' });
    expect(JSON.parse(await readFile(path.join(dir, 'backend.tf.json'), 'utf8'))).toEqual({
      terraform: { backend: { gcs: { bucket: 'some-project-stowage-state', prefix: 'stowage/gcp' } } },
    });
    await writeBackend(dir, 'gcp', { state: 'local', service: 'stowage' });
    expect(await readdir(dir)).toEqual([]);
  });

  test('advice on a moved state leaves it to the user whether the state moves too', () => {
    const said = 'Error: Backend configuration changed\n... use "terraform init -migrate-state". ...';
    expect(stateAdvice(said, 'terraform', dir)).toMatch(/init -migrate-state\n[^]*init -reconfigure$/);
    expect(stateAdvice('Error: no such bucket', 'terraform', dir)).toBeUndefined();
  });
});
