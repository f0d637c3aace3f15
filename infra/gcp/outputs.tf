output "functions" {
  description = "Address of each function; it is also the audience of ID tokens. Empty while there is only data."
  value       = one(module.functions[*].functions)
}

output "keys" {
  description = "Where the app keys are: the secret of each role, and its version in use."
  value       = one(module.functions[*].keys)
}

output "deployers" {
  description = "Who deployed when this was applied, or was named for it."
  value       = var.deployers
}

output "keys_version" {
  description = "What keys_version was when this was applied."
  value       = var.keys_version
}
