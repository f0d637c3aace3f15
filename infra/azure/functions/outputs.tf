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

output "deployers" {
  value = sort(local.deployers)
}

output "upload" {
  value = {
    for name, app in azurerm_function_app_flex_consumption.this : name =>
    join(" && ", [
      "az functionapp config appsettings delete --resource-group ${app.resource_group_name} --name ${app.name} --setting-names AzureWebJobsStorage DEPLOYMENT_STORAGE_CONNECTION_STRING --output none",
      "az rest --method post --url '${app.id}/config/configreferences/appsettings/refresh?api-version=2022-03-01'",
      "az tag update --resource-id ${app.id} --operation Merge --tags package=unknown --output none",
      "az functionapp deployment source config-zip --resource-group ${app.resource_group_name} --name ${app.name} --src ${var.functions[name].package}",
    ])
  }
}

output "keys" {
  value = {
    vault   = azurerm_key_vault.keys.name
    secrets = { for role, secret in azurerm_key_vault_secret.keys : role => secret.name }
  }
}
