// Advice after a cloud's refusal, in the cloud's own words.
import { expect, test } from 'vitest';
import { hintFor } from '../../../infra/plugin/clouds/hints.ts';

test.each([
  ['gcp', 'Max instances must be set to 20 or fewer in order to set the requested total CPU.', 'processorsMax'],
  ['gcp', "Quota exceeded for quota metric 'CpuAllocPerProjectRegion'", 'processorsMax'],
  ['gcp', 'Error 429: Quota exceeded for quota metric ... RATE_LIMIT', 'iam-admin/quotas'],
  ['azure', 'Operation cannot be completed without additional quota.', 'azureRegion'],
  ['azure', 'SubscriptionIsOverQuotaForSku', 'instancesMax'],
  ['gcp', 'Error 403: Cloud Run Admin API has not been used in project 1 before or it is disabled.', 'in a minute'],
  ['gcp', 'Build failed with status: FAILURE', 'gcloud builds log'],
  ['gcp', 'Error 403: The caller does not have permission, forbidden', 'roles/owner'],
  ['azure', 'The user does not have secrets get permission on key vault', 'provider.azure.deployers'],
  ['azure', 'Code="AuthorizationFailed" Message="The client does not have authorization"', 'User Access Administrator'],
  ['azure', 'unexpected status 409 with error: MissingSubscriptionRegistration', 'az provider register'],
  ['azure', 'StorageAccountAlreadyTaken: The storage account named x is already taken.', 'another `service:`'],
  ['azure', 'ScopeLocked: The scope cannot perform delete operation', 'az lock list'],
  ['azure', 'Error acquiring the state lock', 'force-unlock'],
] as const)('on %s: %s', (cloud, said, part) => {
  expect(hintFor(cloud, said)).toContain(part);
});

test('what is not known gets no advice', () => {
  expect(hintFor('gcp', 'Error: something else')).toBeUndefined();
});
