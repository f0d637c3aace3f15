# The functions: their code, their identity, their keys, and who may call them.

data "google_project" "this" {
  project_id = var.project
}

locals {
  # Cloud Scheduler calls these, and callers the others.
  scheduled = { for name, function in var.functions : name => function if function.schedule != "" }
  called    = { for name, function in var.functions : name => function if function.schedule == "" }
}

# --- accounts

# Builds cannot reach the data. ../ci makes the same accounts for workflows, which may act as them
# alone and delete none: `cron` is there without a schedule.
resource "google_service_account" "this" {
  for_each = toset(["build", "run", "cron"])

  project                      = var.project
  account_id                   = "${var.name}-${each.key}"
  create_ignore_already_exists = true
}

# --- code

resource "google_storage_bucket" "code" {
  project  = var.project
  name     = "${var.project}-${var.name}-code"
  location = var.region
  labels   = var.labels

  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  # Holds packages only, and each can be made again.
  force_destroy = true
  # Gone when it is said to be gone: by default objects would be kept, and billed, for a week more.
  soft_delete_policy {
    retention_duration_seconds = 0
  }
}

# The name carries the contents: the same code is no change, other code is a new revision.
resource "google_storage_bucket_object" "package" {
  for_each = var.functions

  bucket = google_storage_bucket.code.name
  name   = "${each.key}-${filesha256(each.value.package)}.zip"
  source = each.value.package
}

resource "google_artifact_registry_repository" "images" {
  project       = var.project
  repository_id = var.name
  location      = var.region
  format        = "DOCKER"
  description   = "Images built from the functions' packages."
  labels        = var.labels

  cleanup_policies {
    id     = "keep-recent"
    action = "KEEP"
    most_recent_versions {
      keep_count = 3
    }
  }
  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"
    condition {
      older_than = "604800s"
    }
  }
}

resource "google_project_iam_member" "build_logs" {
  project = var.project
  role    = "roles/logging.logWriter"
  member  = google_service_account.this["build"].member
}

# The packages and the build's own bucket. The service makes that bucket at a project's first
# function in the region, so no role can be given on it beforehand.
resource "google_project_iam_member" "build_sources" {
  project = var.project
  role    = "roles/storage.objectViewer"
  member  = google_service_account.this["build"].member

  condition {
    title = "${var.name} sources only"
    expression = join(" || ", [for bucket in [
      google_storage_bucket.code.name,
      "gcf-v2-sources-${data.google_project.this.number}-${var.region}",
    ] : "resource.name == \"projects/_/buckets/${bucket}\" || resource.name.startsWith(\"projects/_/buckets/${bucket}/\")"])
  }
}

resource "google_artifact_registry_repository_iam_member" "build" {
  project    = var.project
  location   = google_artifact_registry_repository.images.location
  repository = google_artifact_registry_repository.images.name
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.this["build"].member
}

# --- identity

# The entities of this one database, and nothing more.
resource "google_project_iam_member" "store" {
  project = var.project
  role    = "roles/datastore.user"
  member  = google_service_account.this["run"].member

  condition {
    title      = "${var.name} only"
    expression = "resource.name == \"projects/${var.project}/databases/${var.database}\""
  }
}

# --- keys

resource "google_secret_manager_secret" "keys" {
  for_each = toset(["read", "write", "admin", "compare"])

  project   = var.project
  secret_id = "${var.name}-keys-${each.key}"
  labels    = var.labels

  replication {
    auto {}
  }
}

resource "terraform_data" "keys_version" {
  input = var.keys_version
}

resource "google_secret_manager_secret_version" "keys" {
  for_each = google_secret_manager_secret.keys

  secret                 = each.value.id
  secret_data_wo         = var.keys[each.key]
  secret_data_wo_version = var.keys_version

  # Instances of the former revision go on with the former version until the new one serves; it is
  # disabled, not destroyed.
  deletion_policy = "DISABLE"
  lifecycle {
    create_before_destroy = true
    replace_triggered_by  = [terraform_data.keys_version]
  }
}

resource "google_secret_manager_secret_iam_member" "run" {
  for_each = google_secret_manager_secret.keys

  secret_id = each.value.id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.this["run"].member
}

# A deployment reads the keys that callers have, and tries the functions out with them.
resource "google_secret_manager_secret_iam_member" "deployer" {
  for_each = {
    for pair in setproduct(keys(google_secret_manager_secret.keys), var.deployers) : "${pair[0]} ${pair[1]}" => { role = pair[0], member = pair[1] }
  }

  secret_id = google_secret_manager_secret.keys[each.value.role].id
  role      = "roles/secretmanager.secretAccessor"
  member    = each.value.member
}

# --- functions

resource "google_cloudfunctions2_function" "this" {
  for_each = var.functions

  project  = var.project
  name     = "${var.name}-${each.key}"
  location = var.region
  labels   = var.labels

  build_config {
    runtime           = "nodejs24"
    entry_point       = each.key
    service_account   = google_service_account.this["build"].id
    docker_repository = google_artifact_registry_repository.images.id

    source {
      storage_source {
        bucket = google_storage_bucket.code.name
        object = google_storage_bucket_object.package[each.key].name
      }
    }
  }

  service_config {
    service_account_email            = google_service_account.this["run"].email
    available_memory                 = "${each.value.memory_mb}Mi"
    available_cpu                    = "1"
    timeout_seconds                  = each.value.timeout_seconds
    max_instance_request_concurrency = each.value.concurrency
    min_instance_count               = each.value.instances_min
    max_instance_count               = each.value.instances_max
    ingress_settings                 = "ALLOW_ALL"
    all_traffic_on_latest_revision   = true

    environment_variables = merge(
      {
        GOOGLE_CLOUD_PROJECT = var.project
        STOWAGE_DATABASE_ID  = var.database
        STOWAGE_NAMESPACE    = var.namespace
        LOG_EXECUTION_ID     = "true"
      },
      var.environment,
      contains(keys(var.environment), "OTEL_EXPORTER_OTLP_ENDPOINT") ? { OTEL_SERVICE_NAME = "${var.name}-${each.key}" } : {},
      each.value.schedule == "" ? {} : { STOWAGE_SCHEDULER = google_service_account.this["cron"].email },
    )

    # Named versions, not the latest: a new key is a new revision, and rolls out like one.
    dynamic "secret_environment_variables" {
      for_each = { for role, version in google_secret_manager_secret_version.keys : role => version if each.value.schedule == "" }
      content {
        key        = "STOWAGE_${upper(secret_environment_variables.key)}_KEYS"
        project_id = data.google_project.this.number
        secret     = google_secret_manager_secret.keys[secret_environment_variables.key].secret_id
        version    = secret_environment_variables.value.version
      }
    }
  }

  depends_on = [
    google_artifact_registry_repository_iam_member.build,
    google_project_iam_member.build_logs,
    google_project_iam_member.build_sources,
    google_project_iam_member.store,
    google_secret_manager_secret_iam_member.run,
  ]
}

# The functions' gate is Cloud Run's: these members and nobody else.
resource "google_cloud_run_service_iam_member" "invoker" {
  for_each = {
    for pair in setproduct(keys(local.called), var.invokers) : "${pair[0]} ${pair[1]}" => { function = pair[0], member = pair[1] }
  }

  project  = var.project
  location = var.region
  service  = google_cloudfunctions2_function.this[each.value.function].name
  role     = "roles/run.invoker"
  member   = each.value.member
}

# --- schedule

# The scheduler alone: what it calls asks for no app key, as it could only keep one where anybody
# who may read a job could see it.
resource "google_cloud_run_service_iam_member" "scheduler" {
  for_each = local.scheduled

  project  = var.project
  location = var.region
  service  = google_cloudfunctions2_function.this[each.key].name
  role     = "roles/run.invoker"
  member   = google_service_account.this["cron"].member
}

resource "google_cloud_scheduler_job" "this" {
  for_each = local.scheduled

  project   = var.project
  name      = "${var.name}-${each.key}"
  region    = var.region
  schedule  = each.value.schedule
  time_zone = "Etc/UTC"
  # The function's own time limit; half an hour is the most.
  attempt_deadline = "${each.value.timeout_seconds}s"

  http_target {
    http_method = "POST"
    uri         = "${google_cloudfunctions2_function.this[each.key].service_config[0].uri}/v1/${each.key}"

    oidc_token {
      service_account_email = google_service_account.this["cron"].email
      audience              = google_cloudfunctions2_function.this[each.key].service_config[0].uri
    }
  }

  depends_on = [google_cloud_run_service_iam_member.scheduler]
}
