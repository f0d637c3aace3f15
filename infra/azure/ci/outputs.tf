output "variables" {
  description = "Variables of the GitHub repository that the workflows read."
  value = {
    AZURE_CLIENT_ID       = azurerm_user_assigned_identity.deployer.client_id
    AZURE_TENANT_ID       = azurerm_user_assigned_identity.deployer.tenant_id
    AZURE_SUBSCRIPTION_ID = var.subscription_id
    STOWAGE_STATE         = "azure://${azurerm_storage_account.state.name}/${azurerm_storage_container.state.name}"
  }
}
