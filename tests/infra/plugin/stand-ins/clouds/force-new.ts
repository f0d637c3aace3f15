// Attributes whose change makes another resource, as the providers' own sources say (ForceNew; azurerm 4.x and google 7.x, 2026-08), for the
// types that infra/ uses. Every attribute of the types in WHOLE is one.
import { textOf, type Values } from '../terraform-provider.ts';

const IN_A_GROUP = ['name', 'resource_group_name', 'location'];

const FORCE_NEW: Readonly<Record<string, readonly string[]>> = {
  azurerm_application_insights: [...IN_A_GROUP, 'application_type'],
  azurerm_consumption_budget_resource_group: ['name', 'resource_group_id', 'time_grain'],
  azurerm_function_app_flex_consumption: [...IN_A_GROUP, 'service_plan_id'],
  azurerm_key_vault: IN_A_GROUP,
  azurerm_key_vault_access_policy: ['key_vault_id', 'tenant_id', 'object_id'],
  azurerm_key_vault_secret: ['name', 'key_vault_id'],
  azurerm_log_analytics_workspace: IN_A_GROUP,
  azurerm_monitor_action_group: IN_A_GROUP,
  azurerm_monitor_scheduled_query_rules_alert_v2: [...IN_A_GROUP, 'scopes'],
  azurerm_resource_group: ['name', 'location'],
  azurerm_service_plan: [...IN_A_GROUP, 'os_type'],
  azurerm_storage_account: [...IN_A_GROUP, 'account_tier'],
  azurerm_storage_container: ['name', 'storage_account_id'],
  google_artifact_registry_repository: ['repository_id', 'format', 'location', 'project'],
  google_billing_budget: ['billing_account'],
  google_cloudfunctions2_function: ['name', 'location', 'project'],
  google_firestore_database: ['name', 'location_id', 'project'],
  google_project_service: ['service', 'project'],
  google_secret_manager_secret: ['secret_id', 'project'],
  google_secret_manager_secret_version: ['secret', 'secret_data_wo_version'],
  google_service_account: ['account_id', 'project'],
  google_storage_bucket: ['name', 'location', 'project'],
  google_storage_bucket_object: ['bucket', 'name', 'source'],
};

const WHOLE = /_iam_member$|^azurerm_(role_assignment|management_lock)$/;

/** Replication in one data centre, and across a region's three: azurerm does not change the one into the other in place. */
const ZONAL = new Set(['ZRS', 'GZRS']);

/** Which attributes the provider would name as the reason to replace. */
export function replacedBy(type: string, before: Readonly<Values>, after: Readonly<Values>): string[] {
  const names = WHOLE.test(type) ? Object.keys(after) : (FORCE_NEW[type] ?? []);
  const replaced = names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
  if (type === 'azurerm_storage_account' && isZonal(before) !== isZonal(after))
    replaced.push('account_replication_type');
  return replaced;
}

function isZonal(values: Readonly<Values>): boolean {
  return ZONAL.has(textOf(values, 'account_replication_type'));
}
