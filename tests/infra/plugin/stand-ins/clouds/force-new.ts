// Attributes whose change makes another resource: those that the extract of a provider's schema
// marks, and one that its code decides.
import { attributesOf, type Block, nestedIn, type ProviderSchema } from '../../schemas/schema.ts';
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
function replacingIn(block: Block, before: Readonly<Values>, after: Readonly<Values>): string[] {
  const attributes = attributesOf(block).filter(
    ([name, [, , traits]]) => traits?.forceNew === true && JSON.stringify(after[name]) !== JSON.stringify(before[name]),
  );
  const blocks = nestedIn(block).filter(([name, nested]) => {
    const [were, are] = [before[name], after[name]] as [Values[] | undefined, Values[] | undefined];
    return are?.some((one, at) => replacingIn(nested.block, were?.[at] ?? {}, one).length > 0);
  });
  return [...attributes, ...blocks].map(([name]) => name);
}

function isZonal(values: Readonly<Values>): boolean {
  return ZONAL.has(textOf(values, 'account_replication_type'));
}
