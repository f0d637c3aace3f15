// A cloud's refusal for lack of quota names a metric, if anything. This says which quota it is, and who raises it.
import type { Cloud } from '../../package/bundle.ts';

interface Quota {
  /** What the cloud's refusal holds. */
  readonly sign: RegExp;
  readonly advice: string;
}

const QUOTAS: Readonly<Record<Cloud, readonly Quota[]>> = {
  gcp: [
    {
      sign: /CpuAllocPerProjectRegion|max(imum)? instances must be set to|quota.*(total )?cpu allocation/i,
      advice:
        'Cloud Run’s quota "Total CPU allocation per project per region", 20 processors where nobody has raised it: lower instancesMax in serverless.yml, or ask for more at https://console.cloud.google.com/iam-admin/quotas?service=run.googleapis.com and raise processorsMax.',
    },
    {
      sign: /quota.*exceeded|RESOURCE_EXHAUSTED|rateLimitExceeded/i,
      advice:
        'A quota of the project, named above: https://console.cloud.google.com/iam-admin/quotas shows it, and asks for more.',
    },
  ],
  azure: [
    {
      sign: /SubscriptionIsOverQuotaForSku|additional quota|(Regional|Flex).*quota|QuotaExceeded|Current Limit/i,
      advice:
        'A quota of the subscription in this region, named above: another --param azureRegion=REGION, a lower instancesMax, or a request for more at https://portal.azure.com under Quotas. All instances of a region share the memory that Flex Consumption allows.',
    },
  ],
};

/** The quota behind what a tool said, and how to get more; undefined if it is not about one. */
export function quotaAdvice(cloud: Cloud, said: string): string | undefined {
  return QUOTAS[cloud].find(({ sign }) => sign.test(said))?.advice;
}
