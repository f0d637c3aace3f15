# What infra/azure says, under the real provider's schema: plans whose values from the cloud are
# made up. `bash .ci/providers` runs it where the provider can be had.

mock_provider "azurerm" {
  override_during = plan

  mock_data "azurerm_client_config" {
    defaults = { tenant_id = "99999999-0000-0000-0000-000000000009", object_id = "aaaaaaaa-0000-0000-0000-000000000001" }
  }
  mock_resource "azurerm_resource_group" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a" }
  }
  mock_resource "azurerm_storage_account" {
    defaults = {
      id                     = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Storage/storageAccounts/a"
      primary_table_endpoint = "https://a.table.core.windows.net/"
      primary_blob_endpoint  = "https://a.blob.core.windows.net/"
    }
  }
  mock_resource "azurerm_key_vault" {
    defaults = {
      id        = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.KeyVault/vaults/a"
      vault_uri = "https://a.vault.azure.net/"
    }
  }
  mock_resource "azurerm_service_plan" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Web/serverFarms/a" }
  }
  mock_resource "azurerm_log_analytics_workspace" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.OperationalInsights/workspaces/a" }
  }
  mock_resource "azurerm_application_insights" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Insights/components/a", connection_string = "InstrumentationKey=a" }
  }
  mock_resource "azurerm_application_insights_standard_web_test" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Insights/webTests/a" }
  }
  mock_resource "azurerm_monitor_action_group" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Insights/actionGroups/a" }
  }
  mock_resource "azurerm_function_app_flex_consumption" {
    defaults = {
      id               = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Web/sites/a"
      default_hostname = "a.azurewebsites.net"
      identity         = { principal_id = "aaaaaaaa-0000-0000-0000-000000000009" }
    }
  }
}

variables {
  subscription_id = "00000000-1111-2222-3333-444444444444"
  region          = "eastus"
  service         = "stowage"
  stage           = "dev"
  table           = "stowage"
  replication     = "LRS"
  logs_gb_daily   = 0.5
  environment     = { STOWAGE_TIMEOUT_MS = "25000" }
  deployers       = []
  functions = {
    records = { package = "main.tf", timeout_seconds = 60, concurrency = 32, instances_max = 40, memory_mb = 2048, keys = ["read", "write", "admin"] }
    compare = { package = "main.tf", timeout_seconds = 230, concurrency = 1, instances_max = 40, memory_mb = 2048, keys = ["compare"] }
  }
}

run "as_by_default" {
  command = plan

  assert {
    condition     = azurerm_management_lock.data[0].lock_level == "CanNotDelete" && azurerm_storage_account.data.account_replication_type == "LRS"
    error_message = "The data is locked, and replicated as it is said."
  }
  assert {
    condition     = jsonencode({ for name, one in azurerm_function_app_flex_consumption.this : name => [one.maximum_instance_count, length(one.always_ready)] }) == jsonencode({ compare = [40, 0], records = [40, 0] })
    error_message = "Instances are capped, and none is warm."
  }
  assert {
    condition = jsonencode({ for name, one in azurerm_function_app_flex_consumption.this : name => [for setting in keys(one.app_settings) : setting if endswith(setting, "_KEYS")] }) == jsonencode({
      compare = ["STOWAGE_COMPARE_KEYS"]
      records = ["STOWAGE_ADMIN_KEYS", "STOWAGE_READ_KEYS", "STOWAGE_WRITE_KEYS"]
    })
    error_message = "A function is given the keys of its own roles."
  }
  assert {
    condition     = azurerm_function_app_flex_consumption.this["records"].app_settings["STOWAGE_READ_KEYS"] == "@Microsoft.KeyVault(SecretUri=https://a.vault.azure.net/secrets/keys-read)"
    error_message = "A reference names no version: new keys change no setting."
  }
  assert {
    condition     = length(azurerm_key_vault.keys) == 2 && length(azurerm_storage_account.host) == 2 && jsonencode(keys(azurerm_key_vault_access_policy.function)) == jsonencode(["compare", "records"])
    error_message = "A function has a vault and an account for its package that no other may open."
  }
  assert {
    condition     = toset(flatten(values(azurerm_key_vault_access_policy.function)[*].secret_permissions)) == toset(["Get"])
    error_message = "A function reads its keys, and writes none."
  }
  assert {
    condition     = toset(values(azurerm_role_assignment.function)[*].role_definition_name) == toset(["Monitoring Metrics Publisher", "Storage Blob Data Owner", "Storage Table Data Contributor"])
    error_message = "Roles are few, and narrow."
  }
  assert {
    condition     = jsonencode(output.deployers) == jsonencode(["aaaaaaaa-0000-0000-0000-000000000001"]) && length(azurerm_key_vault_access_policy.deployer) == 2
    error_message = "Whoever applies first reads and adds keys."
  }
  assert {
    condition     = azurerm_function_app_flex_consumption.this["records"].app_settings["STOWAGE_TIMEOUT_MS"] == "25000" && !contains(keys(azurerm_function_app_flex_consumption.this["records"].app_settings), "OTEL_SERVICE_NAME") && !contains(keys(azurerm_function_app_flex_consumption.this["records"].app_settings), "STOWAGE_SCHEDULE")
    error_message = "The environment is handed on."
  }
  assert {
    condition     = azurerm_log_analytics_workspace.this[0].daily_quota_gb == 0.5 && !azurerm_log_analytics_workspace.this[0].local_authentication_enabled && !azurerm_application_insights.this[0].local_authentication_enabled
    error_message = "No more logs are taken a day than is said, and none by a shared key."
  }
  assert {
    condition     = length(azurerm_monitor_action_group.mail) + length(azurerm_monitor_scheduled_query_rules_alert_v2.this) + length(azurerm_application_insights_standard_web_test.ready) + length(azurerm_consumption_budget_resource_group.monthly) == 0
    error_message = "There are no alerts and no budget until they are asked for."
  }
}

run "with_only_data" {
  command = plan
  variables {
    functions = {}
    alerts    = { email = "ops@example.com", error_percent = 1, latency_ms = 2000, requests_min = 100 }
    budget    = { email = "ops@example.com", amount = 20 }
  }

  assert {
    condition     = azurerm_resource_group.data.name == "stowage-dev-data" && azurerm_management_lock.data[0].lock_level == "CanNotDelete"
    error_message = "The data stays, under its lock."
  }
  assert {
    condition     = length(azurerm_resource_group.functions) + length(azurerm_function_app_flex_consumption.this) + length(azurerm_storage_account.host) + length(azurerm_key_vault.keys) + length(azurerm_log_analytics_workspace.this) + length(azurerm_monitor_scheduled_query_rules_alert_v2.this) + length(azurerm_consumption_budget_resource_group.monthly) == 0
    error_message = "Nothing of the functions stays."
  }
}

run "with_all_options" {
  command = plan
  variables {
    replication = "GRS"
    environment = { STOWAGE_TRANSPORT = "sdk", OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example" }
    deployers   = ["aaaaaaaa-0000-0000-0000-000000000002", "aaaaaaaa-0000-0000-0000-000000000003"]
    alerts      = { email = "ops@example.com", error_percent = 1, latency_ms = 2000, requests_min = 100 }
    budget      = { email = "ops@example.com", amount = 20 }
    functions = {
      records = { package = "main.tf", timeout_seconds = 60, concurrency = 32, instances_min = 1, instances_max = 40, memory_mb = 2048, keys = ["read", "write", "admin"] }
      compare = { package = "main.tf", timeout_seconds = 230, concurrency = 1, instances_max = 40, memory_mb = 2048, keys = ["compare"] }
      vacuum  = { package = "main.tf", timeout_seconds = 1800, concurrency = 32, instances_max = 40, memory_mb = 2048, keys = [], schedule = "0 4 * * *" }
    }
  }

  assert {
    condition     = jsonencode(azurerm_function_app_flex_consumption.this["records"].always_ready) == jsonencode([{ instance_count = 1, name = "http" }])
    error_message = "A warm instance is kept."
  }
  assert {
    condition     = azurerm_function_app_flex_consumption.this["vacuum"].app_settings["STOWAGE_SCHEDULE"] == "0 0 4 * * *" && length([for name in keys(azurerm_function_app_flex_consumption.this["vacuum"].app_settings) : name if endswith(name, "_KEYS")]) == 0 && output.functions.vacuum.url == null
    error_message = "What runs on a schedule has the platform's timer, no app key and no address."
  }
  assert {
    condition     = jsonencode(output.deployers) == jsonencode(["aaaaaaaa-0000-0000-0000-000000000002", "aaaaaaaa-0000-0000-0000-000000000003"]) && length(azurerm_key_vault_access_policy.deployer) == 4
    error_message = "Deployers who are named are all there are."
  }
  assert {
    condition     = jsonencode(keys(azurerm_monitor_scheduled_query_rules_alert_v2.this)) == jsonencode(["denied", "down", "errors", "latency", "throttled", "vacuum"]) && jsonencode(keys(azurerm_application_insights_standard_web_test.ready)) == jsonencode(["records"])
    error_message = "What is down, throttled, denied, slow or fails is told."
  }
  assert {
    condition = alltrue([for name in ["denied", "errors", "latency", "throttled"] :
      azurerm_monitor_scheduled_query_rules_alert_v2.this[name].window_duration == "PT5M" && strcontains(azurerm_monitor_scheduled_query_rules_alert_v2.this[name].criteria[0].query, "total = count() | where total >= 100 and ")
    ])
    error_message = "A share counts over five minutes, and of a hundred requests at least."
  }
  assert {
    condition     = azurerm_consumption_budget_resource_group.monthly[0].amount == 20 && can(regex("^\\d{4}-\\d\\d-01T00:00:00Z$", azurerm_consumption_budget_resource_group.monthly[0].time_period[0].start_date))
    error_message = "A budget begins with a month."
  }
}

run "longer_than_azure_waits" {
  command = plan
  variables {
    functions = { records = { package = "main.tf", timeout_seconds = 231, concurrency = 1, instances_max = 40, memory_mb = 2048, keys = [] } }
  }
  expect_failures = [var.functions]
}
