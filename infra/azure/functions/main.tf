# The functions: their apps, their identities, their keys.

data "azurerm_client_config" "deployer" {}

resource "azurerm_resource_group" "functions" {
  name     = var.name
  location = var.region
  tags     = var.tags
}

# --- code

# The platform's own account, apart from the data: packages, and the host's keys and locks.
resource "azurerm_storage_account" "host" {
  # At most 24 characters.
  name                = "${substr(replace(var.name, "-", ""), 0, 12)}host${var.suffix}"
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  tags                = var.tags

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
  for_each = var.functions

  name                  = "package-${each.key}"
  storage_account_id    = azurerm_storage_account.host.id
  container_access_type = "private"
}

# --- keys

resource "azurerm_key_vault" "keys" {
  # At most 24 characters.
  name                = "${substr(replace(var.name, "-", ""), 0, 14)}-${var.suffix}"
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  tags                = var.tags

  tenant_id                  = data.azurerm_client_config.deployer.tenant_id
  sku_name                   = "standard"
  soft_delete_retention_days = 7
  # Access policies act at once; a role takes minutes to arrive, and the keys are written in the
  # same run.
  rbac_authorization_enabled = false
}

locals {
  deployers = toset(length(var.deployers) > 0 ? var.deployers : [data.azurerm_client_config.deployer.object_id])
}

# Terraform reads and writes the keys with the rights of each deployer.
resource "azurerm_key_vault_access_policy" "deployer" {
  for_each = local.deployers

  key_vault_id       = azurerm_key_vault.keys.id
  tenant_id          = data.azurerm_client_config.deployer.tenant_id
  object_id          = each.value
  secret_permissions = ["Get", "Set", "Delete", "Purge", "Recover"]
}

resource "azurerm_key_vault_secret" "keys" {
  for_each = toset(["read", "write", "admin", "compare"])

  # The version is in the name, so that a new one is a new secret: of a changed secret the apps
  # would learn one run too late.
  name             = "keys-${each.key}-${var.keys_version}"
  key_vault_id     = azurerm_key_vault.keys.id
  content_type     = "text/plain"
  value_wo         = var.keys[each.key]
  value_wo_version = var.keys_version

  # The former one stays until the apps have changed over.
  lifecycle {
    create_before_destroy = true
  }

  depends_on = [azurerm_key_vault_access_policy.deployer]
}

resource "azurerm_key_vault_access_policy" "function" {
  for_each = azurerm_function_app_flex_consumption.this

  key_vault_id       = azurerm_key_vault.keys.id
  tenant_id          = each.value.identity[0].tenant_id
  object_id          = each.value.identity[0].principal_id
  secret_permissions = ["Get"]
}

# --- functions

# A plan holds one app, and an app has one memory and one concurrency for all that it serves by
# HTTP: so each function has both.
resource "azurerm_service_plan" "this" {
  for_each = var.functions

  name                = "${var.name}-${each.key}"
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  tags                = var.tags

  os_type  = "Linux"
  sku_name = "FC1"
}

resource "azurerm_function_app_flex_consumption" "this" {
  for_each = var.functions

  name                = "${var.name}-${each.key}-${var.suffix}"
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  service_plan_id     = azurerm_service_plan.this[each.key].id
  tags                = var.tags

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
  storage_container_endpoint  = "${azurerm_storage_account.host.primary_blob_endpoint}${azurerm_storage_container.package[each.key].name}"
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
    application_insights_connection_string = azurerm_application_insights.this.connection_string
  }

  app_settings = merge(
    {
      # By identity: both belong together. The provider adds a connection string without a key,
      # which has to go before the host starts: see the output `upload`.
      AzureWebJobsStorage__accountName = azurerm_storage_account.host.name
      AzureWebJobsStorage__credential  = "managedidentity"
      # The connection string is only an address then: what is sent needs the identity's role.
      APPLICATIONINSIGHTS_AUTHENTICATION_STRING = "Authorization=AAD"

      STOWAGE_TABLES_ENDPOINT = trimsuffix(var.data_endpoint, "/")
      STOWAGE_TABLES_TABLE    = var.table
    },
    var.environment,
    contains(keys(var.environment), "OTEL_EXPORTER_OTLP_ENDPOINT") ? { OTEL_SERVICE_NAME = "${var.name}-${each.key}" } : {},
    # Named versions, not the latest: a new key is a changed setting, and restarts the app.
    { for role, secret in azurerm_key_vault_secret.keys : "STOWAGE_${upper(role)}_KEYS" => "@Microsoft.KeyVault(SecretUri=${secret.id})" if each.value.schedule == "" },
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

locals {
  roles = {
    # On the data's resource group: in the account's own scope the lock would keep the assignment,
    # and block every removal of the functions.
    store = { scope = var.data_group, role = "Storage Table Data Contributor" }
    # The platform reads the package there, and the host keeps its keys and locks.
    host      = { scope = azurerm_storage_account.host.id, role = "Storage Blob Data Owner" }
    telemetry = { scope = azurerm_application_insights.this.id, role = "Monitoring Metrics Publisher" }
  }
}

resource "azurerm_role_assignment" "function" {
  for_each = {
    for pair in setproduct(keys(local.roles), keys(var.functions)) : "${pair[0]} ${pair[1]}" => { grant = pair[0], function = pair[1] }
  }

  scope                = local.roles[each.value.grant].scope
  role_definition_name = local.roles[each.value.grant].role
  principal_id         = azurerm_function_app_flex_consumption.this[each.value.function].identity[0].principal_id
  principal_type       = "ServicePrincipal"
}
