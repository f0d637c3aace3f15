// How the replication of an Azure storage account changes without a new account.
// Source: https://learn.microsoft.com/azure/storage/common/redundancy-migration
import type { Loss } from './cloud.ts';

/** What each replication is with a copy in a second region, and without. */
const WITH_REGION: Readonly<Record<string, string>> = { LRS: 'GRS', ZRS: 'GZRS', GRS: 'GRS', GZRS: 'GZRS' };
const WITHOUT_REGION: Readonly<Record<string, string>> = { LRS: 'LRS', ZRS: 'ZRS', GRS: 'LRS', GZRS: 'ZRS' };

/**
 * The way from one replication to another, where Terraform would make a new account. The second region comes and goes in place, with a
 * deployment; the zones come and go by Azure's conversion, which is asked for and done in the background while the data is in use.
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
