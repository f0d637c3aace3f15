# Google Cloud: the store's data; functions.tf has what serves it, monitoring.tf what watches it.
# functions = {} takes the functions down and keeps the data.

terraform {
  # Write-only attributes, which keep the first app keys out of plan and state.
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
  region  = var.region

  # Budgets are billed to the project, not to the shared client of the command line.
  billing_project       = var.budget == null ? null : var.project
  user_project_override = var.budget == null ? null : true
}

locals {
  name   = "${var.service}-${var.stage}"
  labels = { service = var.service, stage = var.stage }
  # How many there are of what functions share.
  shared = length(var.functions) > 0 ? 1 : 0
}

resource "google_project_service" "needed" {
  for_each = toset(concat([
    "artifactregistry.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudfunctions.googleapis.com",
    "firestore.googleapis.com",
    "iam.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "storage.googleapis.com",
    ],
    var.budget == null ? [] : ["billingbudgets.googleapis.com"],
    anytrue([for function in values(var.functions) : function.schedule != ""]) ? ["cloudscheduler.googleapis.com"] : [],
  ))

  project = var.project
  service = each.value
  # Something else in the project may need it.
  disable_on_destroy = false
}

# A database of its own: `(default)` may already be there, in the other mode.
resource "google_firestore_database" "store" {
  project     = var.project
  name        = local.name
  location_id = var.database_location == "" ? var.region : var.database_location
  type        = "DATASTORE_MODE"

  delete_protection_state = var.allow_data_deletion ? "DELETE_PROTECTION_DISABLED" : "DELETE_PROTECTION_ENABLED"
  # Once the protection is off, destroying means deleting: the default would leave the database
  # behind, and billed.
  deletion_policy = "DELETE"

  point_in_time_recovery_enablement = var.point_in_time_recovery ? "POINT_IN_TIME_RECOVERY_ENABLED" : "POINT_IN_TIME_RECOVERY_DISABLED"

  depends_on = [google_project_service.needed]
}

# Backups outlive their schedule, and the database: each goes when its own time is up.
resource "google_firestore_backup_schedule" "daily" {
  count = var.backup_days > 0 ? 1 : 0

  project   = var.project
  database  = google_firestore_database.store.name
  retention = "${var.backup_days * 86400}s"
  daily_recurrence {}
}
