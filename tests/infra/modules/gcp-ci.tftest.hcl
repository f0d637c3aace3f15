# What infra/gcp/ci says, under the real provider's schema: plans whose values from the cloud are
# made up. `bash .ci/providers` runs it where the provider can be had.

mock_provider "google" {
  override_during = plan

  mock_resource "google_iam_workload_identity_pool" {
    defaults = { name = "projects/1/locations/global/workloadIdentityPools/a" }
  }
  mock_resource "google_service_account" {
    defaults = { name = "projects/some-project/serviceAccounts/an-account@some-project.iam.gserviceaccount.com", member = "serviceAccount:a@example.com" }
  }
}

variables {
  project       = "some-project"
  repository_id = "123456"
}

run "workflows" {
  command = plan

  assert {
    condition     = google_iam_workload_identity_pool_provider.github.attribute_condition == "assertion.repository_id == '123456' && assertion.environment in [\"dev\",\"prod\"]"
    error_message = "Workflows of one repository's environments deploy, and no others."
  }
  assert {
    condition = alltrue([for environment, one in google_service_account_iam_member.workflows :
      one.role == "roles/iam.workloadIdentityUser" && endswith(one.member, "/attribute.environment/${environment}")
    ])
    error_message = "An environment's jobs are its own deployer, and nobody else."
  }
  assert {
    condition     = length([for one in google_project_iam_member.deployer : one.role if can(regex("owner$|editor$|serviceAccount(User|Admin|TokenCreator)|IamAdmin", one.role)) && !contains(["roles/datastore.owner", "roles/monitoring.editor"], one.role)]) == 0
    error_message = "To act as any account of the project is to have its rights."
  }
  assert {
    condition = alltrue([for one in google_project_iam_member.granting : one.condition[0].expression ==
      "api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', []).hasOnly([\"roles/datastore.user\",\"roles/logging.logWriter\",\"roles/storage.objectViewer\"])"
    ])
    error_message = "Its own roles cannot grow: it gives those that infra/gcp/functions.tf has, and no others."
  }
  assert {
    condition     = jsonencode([for stage in ["dev", "prod"] : sort([for id, of in local.accounts : id if of == stage])]) == jsonencode([for stage in ["dev", "prod"] : [for name in ["build", "compare", "cron", "records", "vacuum"] : "stowage-${stage}-${name}"]])
    error_message = "The accounts to act as are those of a stage's functions, builds and schedule."
  }
  assert {
    condition     = toset(values(google_service_account_iam_member.acting)[*].role) == toset(["roles/iam.serviceAccountUser"]) && length(google_service_account_iam_member.acting) == 10
    error_message = "It may act as those accounts."
  }
  assert {
    condition     = google_storage_bucket.state.versioning[0].enabled
    error_message = "A state that was overwritten can be brought back."
  }
}
