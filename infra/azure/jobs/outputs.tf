output "start" {
  description = "The command that starts part I of N, to be given for each with one STOWAGE_START. az takes variables only beside an image, and then only those."
  value = join(" ", concat([
    "az containerapp job start --resource-group ${azurerm_resource_group.jobs.name} --name ${azurerm_container_app_job.part.name}",
    "--container-name part --image ${var.image} --cpu 1 --memory 2Gi --env-vars",
    ], [for name, value in local.environment : "${name}=${value}"], [
    "STOWAGE_PLAN=default STOWAGE_START=2026-01-01T00:00:00Z STOWAGE_PART=I/N",
  ]))
}

output "merge" {
  description = "The commands that make the report of it."
  value       = "az storage blob download-batch --auth-mode login --account-name ${azurerm_storage_account.parts.name} --source ${azurerm_storage_container.parts.name} --pattern 'part-*.json' --destination . && npx stowage merge part-*.json"
}
