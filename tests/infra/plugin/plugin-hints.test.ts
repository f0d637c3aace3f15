// Advice after a refusal that does not name the next step, in the cloud's own words.
import { expect, test } from 'vitest';
import { hintFor } from '../../../infra/plugin/stack/hints.ts';

test.each([
  ['Max instances must be set to 20 or fewer in order to set the requested total CPU.', 'processorsMax'],
  ["Quota exceeded for quota metric 'CpuAllocPerProjectRegion'", 'processorsMax'],
  ['Operation cannot be completed without additional quota.', 'azureRegion'],
  ['SubscriptionIsOverQuotaForSku', 'instancesMax'],
  ['The user does not have secrets get permission on key vault', 'provider.azure.deployers'],
  ['StorageAccountAlreadyTaken: The storage account named x is already taken.', 'another `service:`'],
  ['Error acquiring the state lock', 'force-unlock'],
])('the refusal "%s" gets its advice', (said, part) => {
  expect(hintFor(said)).toContain(part);
});

test('an unknown refusal gets no advice', () => {
  expect(hintFor('Error: something else')).toBeUndefined();
});
