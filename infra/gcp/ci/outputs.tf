output "variables" {
  description = "Variables of each of the GitHub repository's environments, which the workflows read."
  value = { for environment, account in google_service_account.deployer : environment => {
    GCP_PROJECT           = var.project
    GCP_IDENTITY_PROVIDER = google_iam_workload_identity_pool_provider.github.name
    GCP_SERVICE_ACCOUNT   = account.email
    STOWAGE_STATE         = "gs://${google_storage_bucket.state.name}"
  } }
}
