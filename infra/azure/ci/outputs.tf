output "variables" {
  description = "Variables of each of the GitHub repository's environments, which the workflows read."
  value = { for environment, identity in azurerm_user_assigned_identity.deployer : environment => {
    AZURE_CLIENT_ID       = identity.client_id
    AZURE_TENANT_ID       = identity.tenant_id
    AZURE_SUBSCRIPTION_ID = var.subscription_id
    STOWAGE_STATE         = "azure://${azurerm_storage_account.state.name}/${azurerm_storage_container.state[environment].name}"
  } }
}
