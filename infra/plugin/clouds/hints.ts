// The next step after a cloud's refusal. Terraform shows the refusal itself.
import type { Cloud } from '../../package/bundle.ts';

type Hint = readonly [said: RegExp, next: string];

const EVERYWHERE: readonly Hint[] = [
  [
    /state (?:lock|blob is already locked)/i,
    'Somebody else is deploying this stage, or was interrupted: wait, or `terraform force-unlock` with the id above.',
  ],
  [
    /connection (?:refused|reset)|no such host|i\/o timeout|TLS handshake/i,
    'The network failed: the same command goes on.',
  ],
];

const HINTS: Readonly<Record<Cloud, readonly Hint[]>> = {
  gcp: [
    [
      /CpuAllocPerProjectRegion|max(imum)? instances must be set to|quota.*(total )?cpu allocation/i,
      'Cloud Run’s quota "Total CPU allocation per project per region", 20 processors where nobody has raised it: lower instancesMax in serverless.yml, or ask for more at https://console.cloud.google.com/iam-admin/quotas?service=run.googleapis.com and raise processorsMax.',
    ],
    [
      /quota.*exceeded|RESOURCE_EXHAUSTED|rateLimitExceeded/i,
      'A quota of the project, named above: https://console.cloud.google.com/iam-admin/quotas shows it, and asks for more.',
    ],
    [
      /SERVICE_DISABLED|has not been used in project/,
      'An API is off, or was switched on a moment ago: the same command goes on in a minute.',
    ],
    [
      /build failed|missing permission on the build/i,
      'The build failed. Its log: gcloud builds list --region=REGION, then gcloud builds log ID.',
    ],
    [
      /PERMISSION_DENIED|does not have permission|Error 403/,
      'Your login may not do this: it needs roles/owner on the project, or the roles that the message names.',
    ],
  ],
  azure: [
    [
      /SubscriptionIsOverQuotaForSku|additional quota|(Regional|Flex).*quota|QuotaExceeded|Current Limit/i,
      'A quota of the subscription in this region, named above: another --param azureRegion=REGION, a lower instancesMax, or a request for more at https://portal.azure.com under Quotas. All instances of a region share the memory that Flex Consumption allows.',
    ],
    [
      /secrets (?:get|set|delete) permission/i,
      'The stage’s key vault does not know you. One of its deployers adds your object id to provider.azure.deployers in serverless.yml and deploys; the id: az ad signed-in-user show --query id',
    ],
    [
      /MissingSubscriptionRegistration/,
      'A resource provider is not registered: az provider register --namespace NAMESPACE --wait, then the same command.',
    ],
    [
      /ScopeLocked/,
      'A lock holds something that is to be deleted. Locks of others stay: az lock list shows them. The data’s own goes with --delete-data.',
    ],
    [
      /AlreadyTaken|is already in use|NameNotAvailable/,
      'Somebody has that name already: another `service:` in serverless.yml makes other names.',
    ],
    [
      /AuthorizationFailed/,
      'Your login may not do this: it needs Owner on the subscription, or Contributor with User Access Administrator.',
    ],
  ],
};

/** Advice on the first refusal that is known; undefined if none is. */
export function hintFor(cloud: Cloud, said: string): string | undefined {
  return [...HINTS[cloud], ...EVERYWHERE].find(([pattern]) => pattern.test(said))?.[1];
}
