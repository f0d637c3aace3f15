# A comparison that one machine cannot drive: a job of Cloud Run whose tasks are its parts, beside a stage that is deployed. They write to the
# stage's database, in tables and kinds of their own, and leave files in a bucket. Nothing runs until somebody starts an execution.
#
#   terraform -chdir=infra/gcp/jobs init
#   terraform -chdir=infra/gcp/jobs apply -var project=PROJECT_ID -var image=REGION-docker.pkg.dev/PROJECT_ID/stowage-dev/part:1

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
  region  = var.region
}

locals {
  stage  = "${var.service}-${var.stage}"
  labels = { service = var.service, stage = var.stage }
}

resource "google_project_service" "needed" {
  for_each = toset(["iam.googleapis.com", "run.googleapis.com", "storage.googleapis.com"])

  service            = each.value
  disable_on_destroy = false
}

resource "google_service_account" "part" {
  account_id   = "${local.stage}-part"
  display_name = "Drives parts of comparisons of ${local.stage}"
}

# The entities of the stage's database, and nothing more.
resource "google_project_iam_member" "store" {
  project = var.project
  role    = "roles/datastore.user"
  member  = google_service_account.part.member

  condition {
    title      = "${local.stage} only"
    expression = "resource.name == \"projects/${var.project}/databases/${local.stage}\""
  }
}

resource "google_storage_bucket" "parts" {
  name     = "${var.project}-${local.stage}-parts"
  location = var.region
  labels   = local.labels

  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  # Holds what merges into reports, which is kept elsewhere.
  force_destroy = true

  lifecycle_rule {
    condition {
      age = 30
    }
    action {
      type = "Delete"
    }
  }
}

resource "google_storage_bucket_iam_member" "part" {
  bucket = google_storage_bucket.parts.name
  role   = "roles/storage.objectUser"
  member = google_service_account.part.member
}

resource "google_cloud_run_v2_job" "part" {
  name     = "${local.stage}-part"
  location = var.region
  labels   = local.labels
  # It keeps nothing.
  deletion_protection = false

  template {
    task_count = var.parts
    # All at once: a part that comes later has missed its windows.
    parallelism = var.parts

    template {
      service_account = google_service_account.part.email
      timeout         = "${var.timeout_seconds}s"
      # So has one that begins again.
      max_retries = 0
      # Buckets are mounted in this one.
      execution_environment = "EXECUTION_ENVIRONMENT_GEN2"

      containers {
        image = var.image

        resources {
          limits = { cpu = "1", memory = "${var.memory_mb}Mi" }
        }

        # Each execution says when it begins, and with which plan: STOWAGE_START, STOWAGE_PLAN.
        dynamic "env" {
          for_each = {
            GOOGLE_CLOUD_PROJECT = var.project
            STOWAGE_DATABASE_ID  = local.stage
            STOWAGE_NAMESPACE    = var.namespace
            STOWAGE_PARTS        = "/parts"
          }
          content {
            name  = env.key
            value = env.value
          }
        }

        volume_mounts {
          name       = "parts"
          mount_path = "/parts"
        }
      }

      volumes {
        name = "parts"
        gcs {
          bucket    = google_storage_bucket.parts.name
          read_only = false
        }
      }
    }
  }

  depends_on = [
    google_project_service.needed,
    google_project_iam_member.store,
    google_storage_bucket_iam_member.part,
  ]
}
