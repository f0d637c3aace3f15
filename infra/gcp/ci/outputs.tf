output "variables" {
  description = "Variables of the GitHub repository that the workflows read."
  value = {
    GCP_PROJECT           = var.project
    GCP_IDENTITY_PROVIDER = google_iam_workload_identity_pool_provider.github.name
    GCP_SERVICE_ACCOUNT   = google_service_account.deployer.email
    STOWAGE_STATE         = "gs://${google_storage_bucket.state.name}"
  }
}
