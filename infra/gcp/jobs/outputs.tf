output "start" {
  description = "The command that runs a comparison: with a start three minutes ahead, and the default plan."
  value       = "gcloud run jobs execute ${google_cloud_run_v2_job.part.name} --project=${var.project} --region=${var.region} --update-env-vars=STOWAGE_PLAN=default,STOWAGE_START=$(date -u -d '+3 minutes' +%Y-%m-%dT%H:%M:00Z)"
}

output "merge" {
  description = "The commands that make the report of it."
  value       = "gcloud storage cp 'gs://${google_storage_bucket.parts.name}/part-*.json' . && npx stowage merge part-*.json"
}
