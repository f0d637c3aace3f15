output "functions" {
  value = {
    for name, app in azurerm_function_app_flex_consumption.this : name => {
      app = app.name
      # Nobody but the platform's timer calls a scheduled one.
      url = var.functions[name].schedule == "" ? "https://${app.default_hostname}" : null
    }
  }
}

output "resource_group" {
  value = azurerm_resource_group.functions.name
}

output "upload" {
  value = {
    for name, app in azurerm_function_app_flex_consumption.this : name =>
    "az functionapp deployment source config-zip --resource-group ${app.resource_group_name} --name ${app.name} --src ${var.functions[name].package}"
  }
}

output "keys" {
  value = {
    vault   = azurerm_key_vault.keys.name
    secrets = { for role, secret in azurerm_key_vault_secret.keys : role => secret.name }
  }
}
