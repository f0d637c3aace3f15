# The functions: their code, their identities, their keys, and who may call them.

data "google_project" "this" {
  project_id = var.project
}

locals {
  # Cloud Scheduler calls these, and callers the others.
  scheduled = { for name, function in var.functions : name => function if function.schedule != "" }
  called    = { for name, function in var.functions : name => function if function.schedule == "" }
  # Each function may read the keys of its own roles, and no others.
  given_keys = merge([for name, function in var.functions : { for role in function.keys : "${name} ${role}" => { function = name, role = role } }]...)
  roles      = toset(values(local.given_keys)[*].role)
}

# --- accounts

# One for each function, one that builds and cannot reach the data, and one of Cloud Scheduler.
# ./ci makes the same accounts for workflows, which may delete none: so those of what runs on a
# schedule are there without one.
resource "google_service_account" "this" {
  for_each = toset(local.shared == 0 ? [] : concat(["build", "cron", "vacuum"], keys(var.functions)))

  project                      = var.project
  account_id                   = "${local.name}-${each.key}"
  create_ignore_already_exists = true
}

locals {
  project_roles = merge(
    # The entities of this one database, and nothing more.
    { for name in keys(var.functions) : "${name} store" => {
      member     = google_service_account.this[name].member
      role       = "roles/datastore.user"
      title      = "${local.name} only"
      expression = "resource.name == \"projects/${var.project}/databases/${google_firestore_database.store.name}\""
    } },
    # The packages and the build's own bucket. The service makes that bucket at a project's first
    # function in the region, so no role can be given on it beforehand.
    local.shared == 0 ? {} : { "build sources" = {
      member = google_service_account.this["build"].member
      role   = "roles/storage.objectViewer"
      title  = "${local.name} sources only"
      expression = join(" || ", [for bucket in [
        google_storage_bucket.code[0].name,
        "gcf-v2-sources-${data.google_project.this.number}-${var.region}",
      ] : "resource.name == \"projects/_/buckets/${bucket}\" || resource.name.startsWith(\"projects/_/buckets/${bucket}/\")"])
    } },
  )
}

resource "google_project_iam_member" "this" {
  for_each = local.project_roles

  project = var.project
  role    = each.value.role
  member  = each.value.member

  condition {
    title      = each.value.title
    expression = each.value.expression
  }
}

resource "google_project_iam_member" "build_logs" {
  count = local.shared

  project = var.project
  role    = "roles/logging.logWriter"
  member  = google_service_account.this["build"].member
}

# --- code

resource "google_storage_bucket" "code" {
  count = local.shared

  project  = var.project
  name     = "${var.project}-${local.name}-code"
  location = var.region
  labels   = local.labels

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

  bucket = google_storage_bucket.code[0].name
  name   = "${each.key}-${filesha256(each.value.package)}.zip"
  source = each.value.package
}

resource "google_artifact_registry_repository" "images" {
  count = local.shared

  project       = var.project
  repository_id = local.name
  location      = var.region
  format        = "DOCKER"
  description   = "Images built from the functions' packages."
  labels        = local.labels

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

resource "google_artifact_registry_repository_iam_member" "build" {
  count = local.shared

  project    = var.project
  location   = var.region
  repository = google_artifact_registry_repository.images[0].name
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.this["build"].member
}

# --- keys

resource "google_secret_manager_secret" "keys" {
  for_each = local.roles

  project   = var.project
  secret_id = "${local.name}-keys-${each.key}"
  labels    = local.labels

  replication {
    auto {}
  }
}

# A first key, which neither plan nor state knows. `npx serverless keys` writes later versions.
resource "google_secret_manager_secret_version" "first" {
  for_each = google_secret_manager_secret.keys

  secret                 = each.value.id
  secret_data_wo         = uuid()
  secret_data_wo_version = 1
}

resource "google_secret_manager_secret_iam_member" "function" {
  for_each = local.given_keys

  secret_id = google_secret_manager_secret.keys[each.value.role].id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.this[each.value.function].member
}

# A deployment reads the keys that callers have, tries the functions out with them, and adds others.
resource "google_secret_manager_secret_iam_member" "deployer" {
  for_each = {
    for pair in setproduct(local.roles, ["secretAccessor", "secretVersionManager"], var.deployers) : join(" ", pair) => { secret = pair[0], role = pair[1], member = pair[2] }
  }

  secret_id = google_secret_manager_secret.keys[each.value.secret].id
  role      = "roles/secretmanager.${each.value.role}"
  member    = each.value.member
}

# --- functions

resource "google_cloudfunctions2_function" "this" {
  for_each = var.functions

  project  = var.project
  name     = "${local.name}-${each.key}"
  location = var.region
  labels   = local.labels

  build_config {
    runtime           = "nodejs24"
    entry_point       = each.key
    service_account   = google_service_account.this["build"].id
    docker_repository = google_artifact_registry_repository.images[0].id

    source {
      storage_source {
        bucket = google_storage_bucket.code[0].name
        object = google_storage_bucket_object.package[each.key].name
      }
    }
  }

  service_config {
    service_account_email            = google_service_account.this[each.key].email
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
        STOWAGE_DATABASE_ID  = google_firestore_database.store.name
        STOWAGE_NAMESPACE    = var.namespace
        LOG_EXECUTION_ID     = "true"
      },
      var.environment,
      contains(keys(var.environment), "OTEL_EXPORTER_OTLP_ENDPOINT") ? { OTEL_SERVICE_NAME = "${local.name}-${each.key}" } : {},
      each.value.schedule == "" ? {} : { STOWAGE_SCHEDULER = google_service_account.this["cron"].email },
    )

    # The newest version, which an instance reads when it starts.
    dynamic "secret_environment_variables" {
      for_each = toset(each.value.keys)
      content {
        key        = "STOWAGE_${upper(secret_environment_variables.key)}_KEYS"
        project_id = data.google_project.this.number
        secret     = google_secret_manager_secret.keys[secret_environment_variables.key].secret_id
        version    = "latest"
      }
    }
  }

  depends_on = [
    google_artifact_registry_repository_iam_member.build,
    google_project_iam_member.build_logs,
    google_project_iam_member.this,
    google_secret_manager_secret_iam_member.function,
    google_secret_manager_secret_version.first,
  ]
}

# --- who calls

# The functions' gate is Cloud Run's: these members and nobody else. Of what runs on a schedule it
# is the scheduler alone, as such a function asks for no app key: the scheduler could only keep one
# where anybody who may read a job could see it.
resource "google_cloud_run_service_iam_member" "invoker" {
  for_each = merge(
    { for pair in setproduct(keys(local.called), var.invokers) : join(" ", pair) => { function = pair[0], member = pair[1] } },
    { for name in keys(local.scheduled) : "${name} scheduler" => { function = name, member = google_service_account.this["cron"].member } },
  )

  project  = var.project
  location = var.region
  service  = google_cloudfunctions2_function.this[each.value.function].name
  role     = "roles/run.invoker"
  member   = each.value.member
}

resource "google_cloud_scheduler_job" "this" {
  for_each = local.scheduled

  project   = var.project
  name      = "${local.name}-${each.key}"
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

  depends_on = [google_cloud_run_service_iam_member.invoker]
}
