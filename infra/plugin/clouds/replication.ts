// Changes an Azure storage account's replication without a new account.
// Source: https://learn.microsoft.com/azure/storage/common/redundancy-migration
import type { Loss } from './cloud.ts';

/** Each replication with a copy in a second region, and without one. */
const WITH_REGION: Readonly<Record<string, string>> = { LRS: 'GRS', ZRS: 'GZRS', GRS: 'GRS', GZRS: 'GZRS' };
const WITHOUT_REGION: Readonly<Record<string, string>> = { LRS: 'LRS', ZRS: 'ZRS', GRS: 'LRS', GZRS: 'ZRS' };

/**
 * The way to another replication without a new account. A second region comes and goes with a
 * deployment; zones by Azure's conversion, in the background, on request.
 */
export function conversionText({ values }: Loss, from: string, to: string, subscription: string): string {
  const between = (to in WITH_REGION && WITH_REGION[to] === to ? WITH_REGION : WITHOUT_REGION)[from] ?? from;
  const place = `--account-name ${String(values['name'])} --resource-group ${String(values['resource_group_name'])} --subscription ${subscription}`;
  return [
    'Azure converts the account in place, when asked to:',
    ...(between === from ? [] : [`  deploy with \`replication: ${between}\`, which changes in place, then`]),
    `  az storage account migration start ${place} --sku Standard_${to} --name default --no-wait`,
    '  It may take 72 hours to begin, and then as long as there is data to copy. How far it is:',
    `  az storage account migration show ${place} --name default`,
    `  Until it is done keep \`replication: ${between}\`, then deploy with \`replication: ${to}\`.`,
  ].join('\n');
}
