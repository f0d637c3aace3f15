# A comparison that one machine cannot drive: a job of Azure Container Apps, beside a stage that is deployed. Its replicas are not told which they
# are, so each part is an execution of its own, started with its number. They write to the stage's data account, in tables of their own, and
# leave files in an account of theirs. Nothing runs until somebody starts an execution.
#
#   terraform -chdir=infra/azure/jobs init
#   terraform -chdir=infra/azure/jobs apply -var subscription_id=ID -var image=REGISTRY.azurecr.io/stowage-part:1 -var registry_id=RESOURCE_ID

terraform {
  required_version = ">= 1.11"

  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.78"
    }
  }
}

provider "azurerm" {
  subscription_id                 = var.subscription_id
  storage_use_azuread             = true
  resource_provider_registrations = "none"
  resource_providers_to_register  = ["Microsoft.App", "Microsoft.Authorization", "Microsoft.ManagedIdentity", "Microsoft.Storage"]

  features {
    storage {
      data_plane_available = false
    }
  }
}

locals {
  stage = "${var.service}-${var.stage}"
  tags  = { service = var.service, stage = var.stage }
  # As the stage names its data account.
  suffix       = substr(sha256("${var.subscription_id}/${local.stage}"), 0, 8)
  short        = replace(local.stage, "-", "")
  data_group   = "/subscriptions/${var.subscription_id}/resourceGroups/${local.stage}-data"
  data_account = "${substr(local.short, 0, 16)}${local.suffix}"
}

resource "azurerm_resource_group" "jobs" {
  name     = "${local.stage}-jobs"
  location = var.region
  tags     = local.tags
}

# Made before the job, so that its roles are there when it first runs.
resource "azurerm_user_assigned_identity" "part" {
  name                = "${local.stage}-part"
  resource_group_name = azurerm_resource_group.jobs.name
  location            = azurerm_resource_group.jobs.location
  tags                = local.tags
}

resource "azurerm_storage_account" "parts" {
  # At most 24 characters.
  name                = "${substr(local.short, 0, 11)}parts${local.suffix}"
  resource_group_name = azurerm_resource_group.jobs.name
  location            = azurerm_resource_group.jobs.location
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

resource "azurerm_storage_container" "parts" {
  name                  = "parts"
  storage_account_id    = azurerm_storage_account.parts.id
  container_access_type = "private"
}

resource "azurerm_role_assignment" "part" {
  for_each = merge(
    {
      store = { role = "Storage Table Data Contributor", scope = local.data_group }
      parts = { role = "Storage Blob Data Contributor", scope = azurerm_storage_account.parts.id }
    },
    var.registry_id == "" ? {} : { image = { role = "AcrPull", scope = var.registry_id } },
  )

  scope                = each.value.scope
  role_definition_name = each.value.role
  principal_id         = azurerm_user_assigned_identity.part.principal_id
  principal_type       = "ServicePrincipal"
}

moved {
  from = azurerm_role_assignment.store
  to   = azurerm_role_assignment.part["store"]
}

moved {
  from = azurerm_role_assignment.parts
  to   = azurerm_role_assignment.part["parts"]
}

moved {
  from = azurerm_role_assignment.image[0]
  to   = azurerm_role_assignment.part["image"]
}

# Without a workspace: logs of a job are streamed while it runs, and what it measured is in its file.
resource "azurerm_container_app_environment" "jobs" {
  name                = "${local.stage}-jobs"
  resource_group_name = azurerm_resource_group.jobs.name
  location            = azurerm_resource_group.jobs.location
  tags                = local.tags
}

resource "azurerm_container_app_job" "part" {
  name                         = "${local.stage}-part"
  resource_group_name          = azurerm_resource_group.jobs.name
  location                     = azurerm_resource_group.jobs.location
  container_app_environment_id = azurerm_container_app_environment.jobs.id
  tags                         = local.tags

  replica_timeout_in_seconds = var.timeout_seconds
  # A part that begins again has missed its windows.
  replica_retry_limit = 0

  manual_trigger_config {
    parallelism              = 1
    replica_completion_count = 1
  }

  identity {
    type         = "UserAssigned"
    identity_ids = [azurerm_user_assigned_identity.part.id]
  }

  dynamic "registry" {
    for_each = var.registry_id == "" ? [] : [split("/", var.image)[0]]
    content {
      server   = registry.value
      identity = azurerm_user_assigned_identity.part.id
    }
  }

  template {
    container {
      name   = "part"
      image  = var.image
      cpu    = 1
      memory = "2Gi"

      # An execution replaces these with its own: the output `start` has all of them.
      dynamic "env" {
        for_each = local.environment
        content {
          name  = env.key
          value = env.value
        }
      }
    }
  }

  depends_on = [azurerm_role_assignment.part]
}

locals {
  environment = {
    AZURE_CLIENT_ID         = azurerm_user_assigned_identity.part.client_id
    REGION_NAME             = var.region
    STOWAGE_TABLES_ENDPOINT = "https://${local.data_account}.table.core.windows.net"
    STOWAGE_TABLES_TABLE    = var.table
    STOWAGE_PARTS           = "${trimsuffix(azurerm_storage_account.parts.primary_blob_endpoint, "/")}/${azurerm_storage_container.parts.name}"
  }
}
