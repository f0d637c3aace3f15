# What infra/gcp says, under the real provider's schema: plans whose values from the cloud are made
# up. `bash .ci/providers` runs it where the provider can be had.

mock_provider "google" {
  override_during = plan

  mock_data "google_project" {
    defaults = { number = "123456789" }
  }
  mock_resource "google_service_account" {
    defaults = { member = "serviceAccount:a@example.com", email = "a@example.com" }
  }
  mock_resource "google_cloudfunctions2_function" {
    defaults = { url = "https://a.example.com" }
  }
}

variables {
  project                = "some-project"
  region                 = "us-east4"
  database_location      = ""
  service                = "stowage"
  stage                  = "dev"
  processors_max         = 20
  point_in_time_recovery = false
  backup_days            = 0
  namespace              = ""
  environment            = { STOWAGE_TIMEOUT_MS = "25000" }
  invokers               = ["user:caller@example.com"]
  deployers              = ["user:deployer@example.com"]
  functions = {
    records = { package = "main.tf", timeout_seconds = 60, concurrency = 32, instances_max = 4, memory_mb = 2048, keys = ["read", "write", "admin"] }
    compare = { package = "main.tf", timeout_seconds = 230, concurrency = 1, instances_max = 1, memory_mb = 2048, keys = ["compare"] }
  }
}

run "as_by_default" {
  command = plan

  assert {
    condition = { for one in google_cloud_run_service_iam_member.invoker : "${one.service} ${one.role}" => one.member } == {
      "stowage-dev-compare roles/run.invoker" = "user:caller@example.com"
      "stowage-dev-records roles/run.invoker" = "user:caller@example.com"
    }
    error_message = "Nobody calls but those who are named."
  }
  assert {
    condition     = jsonencode(keys(google_secret_manager_secret_iam_member.function)) == jsonencode(["compare compare", "records admin", "records read", "records write"])
    error_message = "Each secret is read by one function."
  }
  assert {
    condition = jsonencode({ for name, one in google_cloudfunctions2_function.this : name => sort(one.service_config[0].secret_environment_variables[*].key) }) == jsonencode({
      compare = ["STOWAGE_COMPARE_KEYS"]
      records = ["STOWAGE_ADMIN_KEYS", "STOWAGE_READ_KEYS", "STOWAGE_WRITE_KEYS"]
    })
    error_message = "A function is given the keys of its own roles."
  }
  assert {
    condition     = toset(values(google_project_iam_member.this)[*].role) == toset(["roles/datastore.user", "roles/storage.objectViewer"]) && google_project_iam_member.build_logs[0].role == "roles/logging.logWriter"
    error_message = "Roles on the project are few, and narrow."
  }
  assert {
    condition     = alltrue([for name in ["records", "compare"] : google_project_iam_member.this["${name} store"].condition[0].expression == "resource.name == \"projects/some-project/databases/stowage-dev\""])
    error_message = "The functions get one database, not all of the project's."
  }
  assert {
    condition     = jsonencode(distinct(flatten(regexall("buckets/([^\"/]+)", google_project_iam_member.this["build sources"].condition[0].expression)))) == jsonencode(["some-project-stowage-dev-code", "gcf-v2-sources-123456789-us-east4"])
    error_message = "Builds read packages, not the project's other buckets."
  }
  assert {
    condition     = jsonencode({ for name, one in google_cloudfunctions2_function.this : name => [one.service_config[0].min_instance_count, one.service_config[0].max_instance_count] }) == jsonencode({ compare = [0, 1], records = [0, 4] })
    error_message = "Instances are capped, and none is warm."
  }
  assert {
    condition     = google_cloudfunctions2_function.this["records"].service_config[0].environment_variables["STOWAGE_TIMEOUT_MS"] == "25000" && !contains(keys(google_cloudfunctions2_function.this["records"].service_config[0].environment_variables), "OTEL_SERVICE_NAME")
    error_message = "The environment is handed on."
  }
  assert {
    condition     = length(google_monitoring_alert_policy.this) + length(google_monitoring_uptime_check_config.ready) + length(google_monitoring_notification_channel.mail) + length(google_billing_budget.monthly) + length(google_firestore_backup_schedule.daily) + length(google_cloud_scheduler_job.this) == 0
    error_message = "There are no alerts, budget, backups and schedules until they are asked for."
  }
}

run "with_only_data" {
  command = plan
  variables {
    functions = {}
    alerts    = { email = "ops@example.com", error_percent = 1, latency_ms = 2000, requests_min = 100 }
    budget    = { billing_account = "000000-000000-000000", amount = 20 }
  }

  assert {
    condition     = google_firestore_database.store.name == "stowage-dev"
    error_message = "The data stays."
  }
  assert {
    condition     = length(google_cloudfunctions2_function.this) + length(google_service_account.this) + length(google_secret_manager_secret.keys) + length(google_storage_bucket.code) + length(google_artifact_registry_repository.images) + length(google_monitoring_dashboard.this) + length(google_monitoring_alert_policy.this) + length(google_billing_budget.monthly) == 0
    error_message = "Nothing of the functions stays."
  }
}

run "with_all_options" {
  command = plan
  variables {
    environment            = { STOWAGE_TRANSPORT = "sdk", OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example" }
    point_in_time_recovery = true
    backup_days            = 14
    alerts                 = { email = "ops@example.com", error_percent = 1, latency_ms = 2000, requests_min = 100 }
    budget                 = { billing_account = "000000-000000-000000", amount = 20 }
    functions = {
      records = { package = "main.tf", timeout_seconds = 60, concurrency = 32, instances_min = 1, instances_max = 4, memory_mb = 2048, keys = ["read", "write", "admin"] }
      compare = { package = "main.tf", timeout_seconds = 230, concurrency = 1, instances_max = 1, memory_mb = 2048, keys = ["compare"] }
      vacuum  = { package = "main.tf", timeout_seconds = 1800, concurrency = 32, instances_max = 1, memory_mb = 2048, keys = [], schedule = "0 4 * * *" }
    }
  }

  assert {
    condition     = google_cloudfunctions2_function.this["records"].service_config[0].min_instance_count == 1
    error_message = "A warm instance is kept."
  }
  assert {
    condition     = google_firestore_database.store.point_in_time_recovery_enablement == "POINT_IN_TIME_RECOVERY_ENABLED" && google_firestore_backup_schedule.daily[0].retention == "1209600s"
    error_message = "Every version of a week is kept, and backups for 14 days."
  }
  assert {
    condition     = jsonencode([for one in google_cloud_scheduler_job.this : [one.schedule, one.time_zone, one.attempt_deadline]]) == jsonencode([["0 4 * * *", "Etc/UTC", "1800s"]]) && contains(keys(google_project_service.needed), "cloudscheduler.googleapis.com")
    error_message = "The schedule is Cloud Scheduler's."
  }
  assert {
    condition     = jsonencode([for one in google_cloud_run_service_iam_member.invoker : one.member if one.service == "stowage-dev-vacuum"]) == jsonencode([google_service_account.this["cron"].member])
    error_message = "What runs on a schedule is called by the scheduler alone."
  }
  assert {
    condition     = length(google_cloudfunctions2_function.this["vacuum"].service_config[0].secret_environment_variables) == 0
    error_message = "What runs on a schedule is given no app key."
  }
  assert {
    condition     = jsonencode([for one in google_monitoring_uptime_check_config.ready : [one.display_name, one.http_check[0].path, one.http_check[0].use_ssl, one.http_check[0].service_agent_authentication[0].type]]) == jsonencode([["stowage-dev-records", "/v1/ready", true, "OIDC_TOKEN"]]) && jsonencode([for one in google_cloud_run_service_iam_member.monitoring : "${one.service} ${one.role}"]) == jsonencode(["stowage-dev-records roles/run.invoker"])
    error_message = "Readiness is asked for as Monitoring's own account, which is let in."
  }
  assert {
    condition = jsonencode(sort(values(google_monitoring_alert_policy.this)[*].display_name)) == jsonencode([
      "stowage-dev: records is down",
      "stowage-dev: requests are denied",
      "stowage-dev: requests are slow",
      "stowage-dev: requests are throttled",
      "stowage-dev: requests fail",
      "stowage-dev: vacuum fails",
    ])
    error_message = "What is down, throttled, denied, slow or fails is told."
  }
  assert {
    condition = alltrue(flatten([for name in ["errors", "throttled", "denied", "latency"] : [
      length(google_monitoring_alert_policy.this[name].conditions) == 2,
      google_monitoring_alert_policy.this[name].combiner == "AND",
      contains(google_monitoring_alert_policy.this[name].conditions[*].condition_threshold[0].threshold_value, 99.5),
      [for one in google_monitoring_alert_policy.this[name].conditions : one.condition_threshold[0].duration == "0s" && one.condition_threshold[0].aggregations[0].alignment_period == "300s"],
    ]]))
    error_message = "A share counts over five minutes, and of a hundred requests at least."
  }
  assert {
    condition     = can(regex("^severity>=ERROR .*stowage-dev-vacuum.*cloud_scheduler_job", google_monitoring_alert_policy.this["vacuum fails"].conditions[0].condition_matched_log[0].filter))
    error_message = "What ends a scheduled run is read from the log."
  }
}

run "more_processors_than_the_quota" {
  command = plan
  variables {
    processors_max = 4
  }
  expect_failures = [var.functions]
}
