# What infra/azure/ci says, under the real provider's schema: plans whose values from the cloud are
# made up. `bash .ci/providers` runs it where the provider can be had.

mock_provider "azurerm" {
  override_during = plan

  mock_resource "azurerm_resource_group" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a" }
  }
  mock_resource "azurerm_user_assigned_identity" {
    defaults = {
      id           = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.ManagedIdentity/userAssignedIdentities/a"
      principal_id = "aaaaaaaa-0000-0000-0000-000000000001"
    }
  }
  mock_resource "azurerm_storage_account" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Storage/storageAccounts/a" }
  }
  mock_resource "azurerm_storage_container" {
    defaults = { id = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/a/providers/Microsoft.Storage/storageAccounts/a/blobServices/default/containers/a" }
  }
}

variables {
  subscription_id = "00000000-1111-2222-3333-444444444444"
  repository      = "somebody/something"
}

run "workflows" {
  command = plan

  assert {
    condition     = jsonencode(values(azurerm_federated_identity_credential.github)[*].subject) == jsonencode(["repo:somebody/something:environment:dev", "repo:somebody/something:environment:prod"])
    error_message = "Workflows of one repository's environments deploy, and no others."
  }
  assert {
    condition     = jsonencode(keys(azurerm_resource_group.stage)) == jsonencode(["stowage-dev", "stowage-dev-data", "stowage-prod", "stowage-prod-data"])
    error_message = "A stage has two groups."
  }
  assert {
    condition = alltrue([for one in azurerm_role_assignment.deployer :
      contains(["Contributor", "Locks Contributor", "Role Based Access Control Administrator"], one.role_definition_name) && can(regex("/resourceGroups/[^/]+$", one.scope))
    ]) && toset(values(azurerm_role_assignment.reader)[*].role_definition_name) == toset(["Reader"])
    error_message = "An identity changes its stage's groups; of the subscription it is a reader."
  }
  assert {
    condition = alltrue([for one in azurerm_role_assignment.deployer :
      length(regexall("ForAnyOfAnyValues:GuidEquals \\{3913510d-42f4-4e42-8a64-420c390055eb, b7e6dc6d-f1e8-4753-8033-0f276bb0955b, 0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3\\}", one.condition)) == 2
      if strcontains(one.role_definition_name, "Administrator")
    ])
    error_message = "Its own roles cannot grow: it gives those that infra/azure/functions.tf has, and no others."
  }
  assert {
    condition     = azurerm_storage_account.state.blob_properties[0].versioning_enabled
    error_message = "A state that was overwritten can be brought back."
  }
}
