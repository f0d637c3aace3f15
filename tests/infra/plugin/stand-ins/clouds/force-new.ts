// Attributes whose change makes another resource: those that the extract of a provider's schema marks, and one that its code decides.
import type { ProviderSchema } from '../../schemas/schema.ts';
import { type Cloud, textOf, type Values } from '../terraform-provider.ts';

/** Replication in one data centre, and across a region's three: azurerm does not change the one into the other in place. */
const ZONAL = new Set(['ZRS', 'GZRS']);

/** Names what the provider would name as the reason to replace. */
export function replacedByOf(schema: ProviderSchema): Cloud['replacedBy'] {
  return (type, before, after) => {
    const attributes = Object.entries(schema.resources[type]!.attributes);
    const names = attributes.filter(([, [, , traits]]) => traits?.forceNew === true).map(([name]) => name);
    const replaced = names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
    if (type === 'azurerm_storage_account' && isZonal(before) !== isZonal(after))
      replaced.push('account_replication_type');
    return replaced;
  };
}

function isZonal(values: Readonly<Values>): boolean {
  return ZONAL.has(textOf(values, 'account_replication_type'));
}
