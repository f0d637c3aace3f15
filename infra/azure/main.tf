# Azure: the store's data; functions.tf has what serves it, monitoring.tf what watches it, in a
# resource group of their own. functions = {} takes the functions down and keeps the data.

terraform {
  # Write-only attributes, which keep the first app keys out of plan and state.
  required_version = ">= 1.11"

  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.78"
    }
  }
}

provider "azurerm" {
  subscription_id     = var.subscription_id
  storage_use_azuread = true

  # Registering happens whenever the provider starts, for a plan too.
  resource_provider_registrations = "none"
  resource_providers_to_register  = var.resource_providers

  features {
    resource_group {
      # Application Insights puts rules of its own beside it, which nothing here knows.
      prevent_deletion_if_contains_resources = false
    }
    key_vault {
      # The name can be used again at once, and the keys are gone when they are said to be gone.
      purge_soft_delete_on_destroy    = true
      recover_soft_deleted_key_vaults = true
    }
    log_analytics_workspace {
      # Otherwise it, and its logs, could be brought back for two weeks.
      permanently_delete_on_destroy = true
    }
    storage {
      # Accounts without shared keys: their data plane is for the functions' identities, not for
      # this provider.
      data_plane_available = false
    }
  }
}

locals {
  name = "${var.service}-${var.stage}"
  tags = { service = var.service, stage = var.stage }
  # Names of accounts and apps are the whole world's: the same subscription, service and stage
  # always make the same ones.
  suffix = substr(sha256("${var.subscription_id}/${local.name}"), 0, 8)
  # How many there are of what functions share.
  shared = length(var.functions) > 0 ? 1 : 0
}

# ./ci makes a stage's groups beforehand: only their owner gives rights on them.
import {
  for_each = toset([for name in var.present_groups : name if name == "${local.name}-data"])
  to       = azurerm_resource_group.data
  id       = "/subscriptions/${var.subscription_id}/resourceGroups/${each.key}"
}

import {
  for_each = toset([for name in var.present_groups : name if name == local.name && local.shared == 1])
  to       = azurerm_resource_group.functions[0]
  id       = "/subscriptions/${var.subscription_id}/resourceGroups/${each.key}"
}

resource "azurerm_resource_group" "data" {
  name     = "${local.name}-data"
  location = var.region
  tags     = local.tags
}

resource "azurerm_storage_account" "data" {
  # At most 24 characters.
  name                = "${substr(replace(local.name, "-", ""), 0, 16)}${local.suffix}"
  resource_group_name = azurerm_resource_group.data.name
  location            = azurerm_resource_group.data.location
  tags                = local.tags

  account_kind             = "StorageV2"
  account_tier             = "Standard"
  account_replication_type = var.replication

  https_traffic_only_enabled      = true
  min_tls_version                 = "TLS1_2"
  allow_nested_items_to_be_public = false
  # Identities only.
  shared_access_key_enabled        = false
  default_to_oauth_authentication  = true
  cross_tenant_replication_enabled = false
}

# The account cannot be deleted while this is there. The store makes its table itself, through its
# own role.
resource "azurerm_management_lock" "data" {
  count = var.allow_data_deletion ? 0 : 1

  name       = "${local.name}-data"
  scope      = azurerm_storage_account.data.id
  lock_level = "CanNotDelete"
  notes      = "Holds the records of ${local.name}. Set allow_data_deletion to take it off."
}
