output "functions" {
  description = "Function app of each function, and its address; nobody but the platform's timer calls one without. Empty while there is only data."
  value = { for name, app in azurerm_function_app_flex_consumption.this : name => {
    app = app.name
    url = var.functions[name].schedule == "" ? "https://${app.default_hostname}" : null
  } }
}

output "resource_group" {
  description = "Resource group of the function apps."
  value       = local.name
}

output "keys" {
  description = "Vault and secret with the app keys of each role; the newest version counts."
  value       = { for role, secret in azurerm_key_vault_secret.keys : role => { vault = azurerm_key_vault.keys[local.given_keys[role]].name, secret = secret.name } }
}

output "deployers" {
  description = "Who deployed when this was applied, or was named for it."
  value       = sort(local.deployers)
}
