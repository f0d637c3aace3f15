# An identity for each environment, which trusts GitHub's tokens, so that workflows deploy without a
# password; the resource groups that it may change; an account for Terraform's state. An owner of
# the subscription applies this once:

# terraform -chdir=infra/azure/ci init
# terraform -chdir=infra/azure/ci apply -var subscription_id=ID -var repository=OWNER/NAME

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
  subscription_id     = var.subscription_id
  storage_use_azuread = true

  resource_provider_registrations = "none"
  # The workflows' identities may register none.
  resource_providers_to_register = [
    "Microsoft.AlertsManagement",
    "Microsoft.App",
    "Microsoft.Authorization",
    "Microsoft.Consumption",
    "Microsoft.Insights",
    "Microsoft.KeyVault",
    "Microsoft.ManagedIdentity",
    "Microsoft.OperationalInsights",
    "Microsoft.Storage",
    "Microsoft.Web",
  ]

  features {
    storage {
      data_plane_available = false
    }
  }
}

locals {
  tags = { service = var.service, stage = "ci" }
  # Names of storage accounts are the whole world's.
  suffix = substr(sha256("${var.subscription_id}/${var.service}-ci"), 0, 8)
  # The roles that a deployment grants; its identity may grant no others. Their numbers are the same
  # in every directory (https://learn.microsoft.com/azure/role-based-access-control/built-in-roles).
  granted = join(", ", [
    "3913510d-42f4-4e42-8a64-420c390055eb", # Monitoring Metrics Publisher
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b", # Storage Blob Data Owner
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3", # Storage Table Data Contributor
  ])
}

resource "azurerm_resource_group" "ci" {
  name     = "${var.service}-ci"
  location = var.region
  tags     = local.tags
}

# --- who is trusted

resource "azurerm_user_assigned_identity" "deployer" {
  for_each = toset(var.environments)

  name                = "${var.service}-ci-${each.key}"
  resource_group_name = azurerm_resource_group.ci.name
  location            = azurerm_resource_group.ci.location
  tags                = local.tags
}

# Only jobs of these environments, which GitHub can be told to guard.
resource "azurerm_federated_identity_credential" "github" {
  for_each = azurerm_user_assigned_identity.deployer

  name                      = "github-${each.key}"
  user_assigned_identity_id = each.value.id
  issuer                    = "https://token.actions.githubusercontent.com"
  subject                   = "repo:${var.repository}:environment:${each.key}"
  audience                  = ["api://AzureADTokenExchange"]
}

# --- what it may do

# A stage's two groups, which its deployment takes over: an identity has rights there alone.
resource "azurerm_resource_group" "stage" {
  for_each = merge([for name in var.environments : {
    "${var.service}-${name}"      = name
    "${var.service}-${name}-data" = name
  }]...)

  name     = each.key
  location = var.region
  tags     = { service = var.service, stage = each.value }
}

locals {
  # May give roles, but these three only: otherwise it could make itself the owner.
  granting = join(" AND ", [for action, attribute in { write = "@Request", delete = "@Resource" } :
    "((!(ActionMatches{'Microsoft.Authorization/roleAssignments/${action}'})) OR (${attribute}[Microsoft.Authorization/roleAssignments:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {${local.granted}}))"
  ])
}

# Locks are for the data: a contributor is given nothing of Microsoft.Authorization.
resource "azurerm_role_assignment" "deployer" {
  for_each = { for pair in setproduct(keys(azurerm_resource_group.stage), ["Contributor", "Locks Contributor", "Role Based Access Control Administrator"]) :
    join(" ", pair) => { group = azurerm_resource_group.stage[pair[0]], role = pair[1] }
  }

  scope                = each.value.group.id
  role_definition_name = each.value.role
  principal_id         = azurerm_user_assigned_identity.deployer[each.value.group.tags.stage].principal_id
  principal_type       = "ServicePrincipal"
  condition_version    = strcontains(each.value.role, "Administrator") ? "2.0" : null
  condition            = strcontains(each.value.role, "Administrator") ? local.granting : null
}

# What a region offers, and which names are free, is a subscription's to tell.
resource "azurerm_role_assignment" "reader" {
  for_each = azurerm_user_assigned_identity.deployer

  scope                = "/subscriptions/${var.subscription_id}"
  role_definition_name = "Reader"
  principal_id         = each.value.principal_id
  principal_type       = "ServicePrincipal"
}

# --- state

resource "azurerm_storage_account" "state" {
  # At most 24 characters.
  name                = "${substr(replace(var.service, "-", ""), 0, 11)}state${local.suffix}"
  resource_group_name = azurerm_resource_group.ci.name
  location            = azurerm_resource_group.ci.location
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

  # A state that was overwritten can be brought back.
  blob_properties {
    versioning_enabled = true
    delete_retention_policy {
      days = 30
    }
  }

  # Without its state, Terraform would take what is deployed for nothing of its own.
  lifecycle {
    prevent_destroy = true
  }
}

# One for each environment: a state says what is to be deleted.
resource "azurerm_storage_container" "state" {
  for_each = toset(var.environments)

  name                  = each.key
  storage_account_id    = azurerm_storage_account.state.id
  container_access_type = "private"
}

resource "azurerm_role_assignment" "state" {
  for_each = merge(
    { for name, identity in azurerm_user_assigned_identity.deployer : name => { scope = azurerm_storage_container.state[name].id, principal = identity.principal_id } },
    { for name, id in var.people : "people ${name}" => { scope = azurerm_storage_account.state.id, principal = id } },
  )

  scope                = each.value.scope
  role_definition_name = "Storage Blob Data Contributor"
  principal_id         = each.value.principal
}
