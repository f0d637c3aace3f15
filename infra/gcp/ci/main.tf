# A pool that trusts GitHub's tokens, so that workflows deploy without a key, an account for each
# environment, and a bucket for Terraform's state. Google's roles are of a whole project: only a
# project of its own keeps an environment from the others. A project's owner applies this once:

# ID="$(gh api repos/OWNER/NAME --jq .id)"
# terraform -chdir=infra/gcp/ci init
# terraform -chdir=infra/gcp/ci apply -var project=PROJECT_ID -var repository_id="$ID"

terraform {
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.50, < 8"
    }
  }
}

provider "google" {
  project = var.project
}

locals {
  # The roles that a deployment grants; its account may grant no others.
  granted = ["roles/datastore.user", "roles/logging.logWriter", "roles/storage.objectViewer"]
  # As ../functions.tf names the accounts of a stage.
  accounts = { for pair in setproduct(var.environments, ["build", "cron", "records", "compare", "vacuum"]) : "${var.service}-${pair[0]}-${pair[1]}" => pair[0] }
}

resource "google_project_service" "needed" {
  for_each = toset([
    "cloudresourcemanager.googleapis.com",
    "iam.googleapis.com",
    "iamcredentials.googleapis.com",
    "serviceusage.googleapis.com",
    "storage.googleapis.com",
    "sts.googleapis.com",
  ])

  project            = var.project
  service            = each.value
  disable_on_destroy = false
}

# --- who is trusted

resource "google_iam_workload_identity_pool" "ci" {
  project                   = var.project
  workload_identity_pool_id = "${var.service}-ci"
  display_name              = "Workflows of ${var.service}"

  depends_on = [google_project_service.needed]
}

resource "google_iam_workload_identity_pool_provider" "github" {
  project                            = var.project
  workload_identity_pool_id          = google_iam_workload_identity_pool.ci.workload_identity_pool_id
  workload_identity_pool_provider_id = "github"

  attribute_mapping = {
    "google.subject"        = "assertion.sub"
    "attribute.environment" = "assertion.environment"
  }
  # By number: a name can be given up, and taken by somebody else. Only jobs of these environments,
  # which GitHub can be told to guard.
  attribute_condition = "assertion.repository_id == '${var.repository_id}' && assertion.environment in ${jsonencode(var.environments)}"

  oidc {
    issuer_uri = "https://token.actions.githubusercontent.com"
  }
}

resource "google_service_account" "deployer" {
  for_each = toset(var.environments)

  project      = var.project
  account_id   = "${var.service}-ci-${each.key}"
  display_name = "Deploys ${var.service}-${each.key} from workflows"

  depends_on = [google_project_service.needed]
}

resource "google_service_account_iam_member" "workflows" {
  for_each = google_service_account.deployer

  service_account_id = each.value.name
  role               = "roles/iam.workloadIdentityUser"
  member             = "principalSet://iam.googleapis.com/${google_iam_workload_identity_pool.ci.name}/attribute.environment/${each.key}"
}

# A federated login has no ID token of its own, and the functions' gate wants one: the account makes
# it for itself.
resource "google_service_account_iam_member" "own_tokens" {
  for_each = google_service_account.deployer

  service_account_id = each.value.name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = each.value.member
}

# --- what it may do

resource "google_project_iam_member" "deployer" {
  for_each = { for pair in setproduct(var.environments, [
    "roles/artifactregistry.admin",
    "roles/cloudfunctions.admin",
    "roles/cloudscheduler.admin",
    "roles/datastore.owner",
    "roles/iam.serviceAccountCreator",
    "roles/logging.configWriter",
    "roles/monitoring.editor",
    "roles/run.admin",
    "roles/secretmanager.admin",
    "roles/serviceusage.serviceUsageAdmin",
    "roles/storage.admin",
  ]) : join(" ", pair) => { environment = pair[0], role = pair[1] } }

  project = var.project
  role    = each.value.role
  member  = google_service_account.deployer[each.value.environment].member
}

# Whoever deploys a function must be allowed to act as its account. Made here, the stages' accounts
# are the only ones its deployer may act as.
resource "google_service_account" "acting" {
  for_each = local.accounts

  project                      = var.project
  account_id                   = each.key
  create_ignore_already_exists = true

  depends_on = [google_project_service.needed]
}

resource "google_service_account_iam_member" "acting" {
  for_each = google_service_account.acting

  service_account_id = each.value.name
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.deployer[local.accounts[each.key]].member
}

# It may give roles on the project, but these three only: otherwise it could make itself its owner.
resource "google_project_iam_member" "granting" {
  for_each = google_service_account.deployer

  project = var.project
  role    = "roles/resourcemanager.projectIamAdmin"
  member  = each.value.member

  condition {
    title      = "${var.service} roles only"
    expression = "api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', []).hasOnly(${jsonencode(local.granted)})"
  }
}

# --- state

resource "google_storage_bucket" "state" {
  project  = var.project
  name     = "${var.project}-${var.service}-state"
  location = var.state_location

  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  # A state that was overwritten can be brought back.
  versioning {
    enabled = true
  }
  lifecycle_rule {
    condition {
      num_newer_versions = 30
    }
    action {
      type = "Delete"
    }
  }

  # Without its state, Terraform would take what is deployed for nothing of its own.
  lifecycle {
    prevent_destroy = true
  }

  depends_on = [google_project_service.needed]
}
