// Azure Resource Manager in memory, as far as deployments here depend on it: resources under their
// parents' ids, locks, resource providers, role assignments, key vaults.
import { type Cloud, Refusal, textOf, type Value, type Values } from '../terraform-provider.ts';
import { RESOURCE_PROVIDERS } from '../../../../../infra/plugin/clouds/azure.ts';
import { kept } from './kept.ts';
import { type Resource, Resources } from './resources.ts';
import { Sites, type Surroundings } from './sites.ts';
import { SUBSCRIPTION } from '../tools.ts';

/**
 * Secrets are the one thing that the provider reads and writes with the deployer's own right in the
 * vault.
 */
const SECRET = 'azurerm_key_vault_secret';
const APP = 'azurerm_function_app_flex_consumption';

/** The resource provider of a type that a fresh subscription may lack. */
const NAMESPACES: Readonly<Record<string, string>> = {
  azurerm_application_insights: 'Microsoft.Insights',
  azurerm_function_app_flex_consumption: 'Microsoft.Web',
  azurerm_key_vault: 'Microsoft.KeyVault',
  azurerm_log_analytics_workspace: 'Microsoft.OperationalInsights',
  azurerm_service_plan: 'Microsoft.Web',
  azurerm_storage_account: 'Microsoft.Storage',
};

export class Arm extends Resources<Resource> implements Cloud, Surroundings {
  /** By the id of the secret. */
  readonly #secrets = new Map<string, string>();
  readonly registered = new Set<string>(RESOURCE_PROVIDERS);
  readonly sites = new Sites(this);
  /** Object id of whoever is logged in. */
  caller = 'aaaaaaaa-0000-0000-0000-000000000001';

  /** Gives what puts everything back as it is now. */
  keep(): () => void {
    const { caller } = this;
    const [maps, sites] = [kept(this.resources, this.#secrets, this.registered, this.records), this.sites.keep()];
    return () => {
      maps();
      sites();
      this.caller = caller;
    };
  }

  readonly computed = (type: string, attribute: string, values: Readonly<Values>): Value => {
    const name = textOf(values, 'name');
    const answers: Readonly<Record<string, string>> = {
      id: this.#idOf(type, values),
      tenant_id: 'a-tenant',
      object_id: this.caller,
      principal_id: `principal-of-${name}`,
      default_hostname: `${name}.azurewebsites.net`,
      primary_blob_endpoint: `https://${name}.blob.core.windows.net/`,
      primary_table_endpoint: `https://${name}.table.core.windows.net/`,
    };
    return answers[attribute];
  };

  configure(config: Readonly<Values>): void {
    for (const namespace of (config['resource_providers_to_register'] as string[] | null) ?? [])
      this.registered.add(namespace);
  }

  put(type: string, before: Readonly<Values> | null, after: Readonly<Values>, config: Readonly<Values>): void {
    const id = textOf(after, 'id');
    const namespace = NAMESPACES[type];
    if (namespace !== undefined && !this.registered.has(namespace))
      throw new Refusal(`409 MissingSubscriptionRegistration: the subscription is not registered to use ${namespace}`);
    if (before === null && this.resources.has(id)) throw new Refusal(`a resource with the ID "${id}" already exists`);
    if (type === SECRET) {
      this.#refuseUnless('Set', textOf(after, 'key_vault_id'), this.caller);
      this.#secrets.set(id, textOf(config, 'value_wo'));
    }
    this.resources.set(id, { type, values: { ...after } });
    if (type === APP) this.sites.put(id, before === null, after);
  }

  remove(type: string, values: Readonly<Values>): void {
    const id = textOf(values, 'id');
    // Azure: a lock forbids deleting what is in its scope, and whatever the locked thing is part
    // of.
    const lock = this.locks().find(({ scope, own }) => own !== id && (isIn(id, scope) || isIn(scope, id)));
    if (lock !== undefined)
      throw new Refusal(
        `409 ScopeLocked: the scope '${id}' cannot perform delete operation because following scope(s) are locked: '${lock.scope}'`,
      );
    if (type === SECRET) this.#refuseUnless('Delete', textOf(values, 'key_vault_id'), this.caller);
    for (const other of [...this.resources.keys(), id])
      if (isIn(other, id)) {
        this.resources.delete(other);
        this.#secrets.delete(other);
        this.records.delete(other);
      }
  }

  read(type: string, values: Readonly<Values>): Values | null {
    const id = textOf(values, 'id');
    const found = this.resources.get(id);
    if (found === undefined) return null;
    if (type === SECRET) this.#refuseUnless('Get', textOf(values, 'key_vault_id'), this.caller);
    return type === APP ? { ...found.values, app_settings: this.sites.settingsShown(id) } : found.values;
  }

  /** The tags of an app, by the resource manager's id of it. */
  tagsOf(id: string): Record<string, string> {
    const app = this.sites.idOf(id.split('/').at(-1)!)!;
    return this.resources.get(app)!.values['tags'] as Record<string, string>;
  }

  locks(): { readonly own: string; readonly scope: string }[] {
    return this.#of('azurerm_management_lock').map((one) => ({ own: textOf(one, 'id'), scope: textOf(one, 'scope') }));
  }

  /** Whether this principal has the role at the scope, or above it. */
  hasRole(principal: string, role: string, scope: string): boolean {
    return this.#of('azurerm_role_assignment').some(
      (one) =>
        one['principal_id'] === principal && one['role_definition_name'] === role && isIn(scope, textOf(one, 'scope')),
    );
  }

  mayInVault(permission: string, vaultId: string, principal: string): boolean {
    return this.#of('azurerm_key_vault_access_policy').some(
      (one) =>
        one['key_vault_id'] === vaultId &&
        one['object_id'] === principal &&
        (one['secret_permissions'] as string[]).includes(permission),
    );
  }

  /** The secret of this name in a vault, by the vault's name. */
  secretOf(vault: string, name: string): { readonly id: string; readonly vaultId: string } | undefined {
    const found = this.#of(SECRET).find(
      (one) => one['name'] === name && textOf(one, 'key_vault_id').endsWith(`/${vault}`),
    );
    return found === undefined ? undefined : { id: textOf(found, 'id'), vaultId: textOf(found, 'key_vault_id') };
  }

  secretText(secret: string): string {
    return this.#secrets.get(secret) ?? '';
  }

  #of(type: string): Values[] {
    return this.ofType(type).map(({ values }) => values);
  }

  #refuseUnless(permission: string, vaultId: string, principal: string): void {
    if (!this.mayInVault(permission, vaultId, principal))
      throw new Refusal(
        `403 Forbidden: the user '${principal}' does not have secrets ${permission} permission on ${vaultId}`,
      );
  }

  #idOf(type: string, values: Readonly<Values>): string {
    const text = (name: string): string => textOf(values, name);
    const group = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${text('resource_group_name')}`;
    if (type === 'azurerm_resource_group') return `/subscriptions/${SUBSCRIPTION}/resourceGroups/${text('name')}`;
    if (type === 'azurerm_management_lock')
      return `${text('scope')}/providers/Microsoft.Authorization/locks/${text('name')}`;
    if (type === 'azurerm_role_assignment')
      return `${text('scope')}/providers/Microsoft.Authorization/roleAssignments/${text('principal_id')}-${text('role_definition_name')}`;
    if (type === 'azurerm_key_vault_access_policy') return `${text('key_vault_id')}/objectId/${text('object_id')}`;
    if (type === SECRET)
      return `https://${text('key_vault_id').split('/').at(-1)}.vault.azure.net/secrets/${text('name')}/1`;
    if (type === 'azurerm_storage_container') return `${text('storage_account_id')}/containers/${text('name')}`;
    return `${group}/providers/${type}/${text('name')}`;
  }
}

function isIn(id: string, scope: string): boolean {
  return id === scope || id.startsWith(`${scope}/`);
}
