output "functions" {
  description = "Function app and address of each function. Empty while there is only data."
  value       = one(module.functions[*].functions)
}

output "resource_group" {
  description = "Resource group of the function apps."
  value       = one(module.functions[*].resource_group)
}

output "upload" {
  description = "What is to be done for each function after every apply: takes away the provider's own settings, which stand in the identity's way, asks for the app keys again, and uploads the code."
  value       = one(module.functions[*].upload)
}

output "keys" {
  description = "Where the app keys are: the vault, and the secret of each role."
  value       = one(module.functions[*].keys)
}

output "deployers" {
  description = "Who deployed when this was applied, or was named for it. Empty while there is only data."
  value       = one(module.functions[*].deployers)
}

output "keys_version" {
  description = "What keys_version was when this was applied."
  value       = var.keys_version
}
