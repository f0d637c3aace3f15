# The functions: their apps, their identities, their keys.

data "azurerm_client_config" "deployer" {}

resource "azurerm_resource_group" "functions" {
  count = local.shared

  name     = local.name
  location = var.region
  tags     = local.tags
}

locals {
  deployers = toset(length(var.deployers) > 0 ? var.deployers : [data.azurerm_client_config.deployer.object_id])
  # The function that is given the keys of each role: one alone, so that no other can read them.
  given_keys = merge([for name, function in var.functions : { for role in function.keys : role => name }]...)
  keyed      = toset(values(local.given_keys))
}

# --- code

# The platform's own accounts, apart from the data: the package, and the host's keys and locks. Each
# function writes to its own alone, so that none can change another's code.
resource "azurerm_storage_account" "host" {
  for_each = var.functions

  # At most 24 characters.
  name                = "${substr(replace("${var.stage}${each.key}", "-", ""), 0, 12)}host${substr(sha256("${local.suffix}/${each.key}"), 0, 8)}"
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  tags                = local.tags

  account_kind             = "StorageV2"
  account_tier             = "Standard"
  account_replication_type = "LRS"

  https_traffic_only_enabled       = true
  min_tls_version                  = "TLS1_2"
  allow_nested_items_to_be_public  = false
  shared_access_key_enabled        = false
  default_to_oauth_authentication  = true
  cross_tenant_replication_enabled = false
}

resource "azurerm_storage_container" "package" {
  for_each = azurerm_storage_account.host

  name                  = "package"
  storage_account_id    = each.value.id
  container_access_type = "private"
}

# --- keys

# A vault for each function that callers call: access policies, which act at once where a role takes
# minutes to arrive, open a whole vault.
resource "azurerm_key_vault" "keys" {
  for_each = local.keyed

  # At most 24 characters.
  name                = "${substr("${var.stage}${each.key}", 0, 15)}-${substr(sha256("${local.suffix}/${each.key}"), 0, 8)}"
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  tags                = local.tags

  tenant_id                  = data.azurerm_client_config.deployer.tenant_id
  sku_name                   = "standard"
  soft_delete_retention_days = 7
  rbac_authorization_enabled = false
}

# Deployers read and add keys with their own rights, also through Terraform.
resource "azurerm_key_vault_access_policy" "deployer" {
  for_each = { for pair in setproduct(local.keyed, local.deployers) : join(" ", pair) => { function = pair[0], deployer = pair[1] } }

  key_vault_id       = azurerm_key_vault.keys[each.value.function].id
  tenant_id          = data.azurerm_client_config.deployer.tenant_id
  object_id          = each.value.deployer
  secret_permissions = ["Get", "List", "Set", "Delete", "Purge", "Recover"]
}

resource "azurerm_key_vault_access_policy" "function" {
  for_each = local.keyed

  key_vault_id       = azurerm_key_vault.keys[each.key].id
  tenant_id          = data.azurerm_client_config.deployer.tenant_id
  object_id          = azurerm_function_app_flex_consumption.this[each.key].identity[0].principal_id
  secret_permissions = ["Get"]
}

# A first key, which neither plan nor state knows. `npx serverless keys` writes later versions.
resource "azurerm_key_vault_secret" "keys" {
  for_each = local.given_keys

  name             = "keys-${each.key}"
  key_vault_id     = azurerm_key_vault.keys[each.value].id
  value_wo         = uuid()
  value_wo_version = 1

  # az tags each version that it writes.
  lifecycle {
    ignore_changes = [content_type, tags]
  }

  depends_on = [azurerm_key_vault_access_policy.deployer]
}

# --- functions

# A plan holds one app, and an app has one memory and one concurrency for all that it serves by
# HTTP: so each function has both.
resource "azurerm_service_plan" "this" {
  for_each = var.functions

  name                = "${local.name}-${each.key}"
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  tags                = local.tags

  os_type  = "Linux"
  sku_name = "FC1"
}

resource "azurerm_function_app_flex_consumption" "this" {
  for_each = var.functions

  name                = "${local.name}-${each.key}-${local.suffix}"
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  service_plan_id     = azurerm_service_plan.this[each.key].id
  tags                = local.tags

  runtime_name           = "node"
  runtime_version        = "24"
  instance_memory_in_mb  = each.value.memory_mb
  http_concurrency       = each.value.concurrency
  maximum_instance_count = each.value.instances_max

  dynamic "always_ready" {
    for_each = each.value.instances_min > 0 ? [each.value.instances_min] : []
    content {
      name           = "http"
      instance_count = always_ready.value
    }
  }

  storage_container_type      = "blobContainer"
  storage_container_endpoint  = "${azurerm_storage_account.host[each.key].primary_blob_endpoint}${azurerm_storage_container.package[each.key].name}"
  storage_authentication_type = "SystemAssignedIdentity"

  https_only = true
  # Uploads come with a token of the deployer's, never with a password.
  webdeploy_publish_basic_authentication_enabled = false

  identity {
    type = "SystemAssigned"
  }

  site_config {
    minimum_tls_version                    = "1.2"
    scm_minimum_tls_version                = "1.2"
    http2_enabled                          = true
    application_insights_connection_string = azurerm_application_insights.this[0].connection_string
  }

  app_settings = merge(
    {
      # By identity: both belong together. The provider adds a connection string without a key,
      # which has to go before the host starts: the plugin takes it away.
      AzureWebJobsStorage__accountName = azurerm_storage_account.host[each.key].name
      AzureWebJobsStorage__credential  = "managedidentity"
      # The connection string is only an address then: what is sent needs the identity's role.
      APPLICATIONINSIGHTS_AUTHENTICATION_STRING = "Authorization=AAD"

      STOWAGE_TABLES_ENDPOINT = trimsuffix(azurerm_storage_account.data.primary_table_endpoint, "/")
      STOWAGE_TABLES_TABLE    = var.table
    },
    var.environment,
    contains(keys(var.environment), "OTEL_EXPORTER_OTLP_ENDPOINT") ? { OTEL_SERVICE_NAME = "${local.name}-${each.key}" } : {},
    # Without a version: new keys change no setting, and Terraform no app.
    { for role in each.value.keys : "STOWAGE_${upper(role)}_KEYS" => "@Microsoft.KeyVault(SecretUri=${azurerm_key_vault.keys[each.key].vault_uri}secrets/keys-${role})" },
    # A timer counts seconds too.
    each.value.schedule == "" ? {} : { STOWAGE_SCHEDULE = "0 ${each.value.schedule}" },
  )

  # The tag of whoever uploads: the hash of the package that is there.
  lifecycle {
    ignore_changes = [tags["package"]]
  }

  depends_on = [azurerm_key_vault_secret.keys]
}

# --- identity

resource "azurerm_role_assignment" "function" {
  for_each = merge([for name in keys(var.functions) : {
    # On the data's resource group: in the account's own scope the lock would keep the assignment,
    # and block every removal of the functions.
    "${name} store" = { function = name, scope = azurerm_resource_group.data.id, role = "Storage Table Data Contributor" }
    # The platform reads the package there, and the host keeps its keys and locks.
    "${name} host"      = { function = name, scope = azurerm_storage_account.host[name].id, role = "Storage Blob Data Owner" }
    "${name} telemetry" = { function = name, scope = azurerm_application_insights.this[0].id, role = "Monitoring Metrics Publisher" }
  }]...)

  scope                = each.value.scope
  role_definition_name = each.value.role
  principal_id         = azurerm_function_app_flex_consumption.this[each.value.function].identity[0].principal_id
  principal_type       = "ServicePrincipal"
}
