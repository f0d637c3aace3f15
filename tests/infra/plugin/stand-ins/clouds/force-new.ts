// Attributes whose change makes another resource: those that the extract of a provider's schema
// marks, and one that its code decides.
import type { Block, ProviderSchema } from '../../schemas/schema.ts';
import { type Cloud, textOf, type Values } from '../terraform-provider.ts';

/**
 * Replication in one data centre, and across a region's three: azurerm does not change the one into
 * the other in place.
 */
const ZONAL = new Set(['ZRS', 'GZRS']);

/** Names what the provider would name as the reason to replace. */
export function replacedByOf(schema: ProviderSchema): Cloud['replacedBy'] {
  return (type, before, after) => {
    const replaced = replacingIn(schema.resources[type]!, before, after);
    if (type === 'azurerm_storage_account' && isZonal(before) !== isZonal(after))
      replaced.push('account_replication_type');
    return replaced;
  };
}

/**
 * The attributes of a block that make another resource of it, and the blocks that have such ones.
 */
function replacingIn({ attributes, blocks }: Block, before: Readonly<Values>, after: Readonly<Values>): string[] {
  const names = Object.keys(attributes).filter((name) => attributes[name]![2]?.forceNew === true);
  return [
    ...names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name])),
    ...Object.keys(blocks).filter((name) => {
      const [were, are] = [before[name], after[name]] as [Values[] | undefined, Values[] | undefined];
      return are?.some((one, at) => replacingIn(blocks[name]!, were?.[at] ?? {}, one).length > 0);
    }),
  ];
}

function isZonal(values: Readonly<Values>): boolean {
  return ZONAL.has(textOf(values, 'account_replication_type'));
}
