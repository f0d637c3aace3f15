// What to do after a refusal that does not say so. Terraform prints the refusal itself.
const HINTS: readonly (readonly [said: RegExp, next: string])[] = [
  [
    /state (?:lock|blob is already locked)/i,
    'Somebody else is deploying this stage, or was interrupted: wait, or `terraform force-unlock` with the id above.',
  ],
  [
    /CpuAllocPerProjectRegion|max(imum)? instances must be set to|quota.*(total )?cpu allocation/i,
    'Cloud Run’s quota of processors in the region: lower instancesMax in serverless.yml, or ask for more at https://console.cloud.google.com/iam-admin/quotas?service=run.googleapis.com and raise processorsMax.',
  ],
  [
    /SubscriptionIsOverQuotaForSku|additional quota|(Regional|Flex).*quota|QuotaExceeded|Current Limit/i,
    'A quota of the subscription in this region: another --param azureRegion=REGION, a lower instancesMax, or a request for more at https://portal.azure.com under Quotas.',
  ],
  [
    /secrets (?:get|set|list|delete) permission/i,
    'The stage’s key vaults do not know you. One of its deployers adds your object id to provider.azure.deployers in serverless.yml and deploys; the id: az ad signed-in-user show --query id',
  ],
  [
    /AlreadyTaken|is already in use|NameNotAvailable/,
    'Somebody has that name already: another `service:` in serverless.yml makes other names.',
  ],
];

/** Advice on the first refusal that is known; undefined if none is. */
export function hintFor(said: string): string | undefined {
  return HINTS.find(([pattern]) => pattern.test(said))?.[1];
}
