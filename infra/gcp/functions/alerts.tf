# A dashboard, which costs nothing; alerts and a budget if their variables are set.

locals {
  service_filters = { for name, function in google_cloudfunctions2_function.this : name => "resource.labels.service_name=\"${function.name}\"" }
  # A cell of the comparison takes minutes and an instance, and what runs on a schedule answers
  # nobody else.
  timed    = { for name in keys(local.called) : name => local.service_filters[name] if name != "compare" }
  services = "resource.type=\"cloud_run_revision\" AND (${join(" OR ", values(local.service_filters))})"
  requests = "${local.services} AND metric.type=\"run.googleapis.com/request_count\""
  latency  = "resource.type=\"cloud_run_revision\" AND (${join(" OR ", values(local.timed))}) AND metric.type=\"run.googleapis.com/request_latencies\""

  # The mails say what to do; ../../README.md has the same.
  runbook = {
    errors    = "Search the log for ERROR: code and causes say why. After a deployment, deploy the version before."
    throttled = "The log says which table: slow its callers down."
    denied    = "The log says whose key. After keys --retire a caller still has the old one."
    latency   = "The log says which route. If an instance's first requests are slow, raise instancesMin."
    capped    = "Find who calls, or raise instancesMax, on Google with processorsMax."
    late      = "Its caller got half an answer: causes say why."
    down      = "Ask /v1/ready and /v1/health. If only the first fails, causes say what the store lacks."
    fails     = "Its line names the tables: verify one that is corrupt. The next run does the others."
    absent    = "See whether the schedule is there and enabled. Only space is lost meanwhile."
  }

  shares = {
    errors    = { text = "requests fail", condition = "5xx", codes = "metric.labels.response_code_class=\"5xx\"" }
    throttled = { text = "requests are throttled", condition = "429", codes = "metric.labels.response_code=\"429\"" }
    denied    = { text = "requests are denied", condition = "401 and 403", codes = "metric.labels.response_code=monitoring.regex.full_match(\"401|403\")" }
  }
  # Each is a chart of the dashboard, and an alert above `most`.
  charts = merge(
    { for name, share in local.shares : name => {
      text        = share.text
      condition   = "${share.condition} above ${try(var.alerts.error_percent, 0)} %"
      filter      = "${local.requests} AND ${share.codes}"
      denominator = local.requests
      most        = try(var.alerts.error_percent / 100, 0)
      aligner     = "ALIGN_RATE"
      reducer     = "REDUCE_SUM"
      todo        = local.runbook[name]
    } },
    { latency = {
      text        = "requests are slow"
      condition   = "1 % above ${try(var.alerts.latency_ms, 0)} ms"
      filter      = local.latency
      denominator = null
      most        = try(var.alerts.latency_ms, 0)
      aligner     = "ALIGN_PERCENTILE_99"
      reducer     = "REDUCE_MAX"
      todo        = local.runbook.latency
    } },
    { for name, service in local.timed : "capped-${name}" => {
      text        = "${name} has all its instances"
      condition   = "${var.functions[name].instances_max} instances"
      filter      = "resource.type=\"cloud_run_revision\" AND ${service} AND metric.type=\"run.googleapis.com/container/instance_count\" AND metric.labels.state=\"active\""
      denominator = null
      # Above is more than one below.
      most    = var.functions[name].instances_max - 0.5
      aligner = "ALIGN_MAX"
      reducer = "REDUCE_SUM"
      todo    = local.runbook.capped
    } },
  )

  # A line of a log that is an alert by itself.
  lines = var.alerts == null ? {} : merge(
    {
      # Its status was sent before it failed, so no count of 5xx has it.
      late = { text = "answers break off", filter = "${local.services} AND severity=ERROR AND jsonPayload.status<500", todo = local.runbook.late }
    },
    # The line of a run that did not finish all tables, what ended without a line, and the
    # scheduler's own attempts that reached nobody.
    { for name in keys(local.scheduled) : name => {
      text   = "${name} fails"
      todo   = local.runbook.fails
      filter = "severity>=ERROR AND ((resource.type=\"cloud_run_revision\" AND ${local.service_filters[name]}) OR (resource.type=\"cloud_scheduler_job\" AND resource.labels.job_id=\"${var.name}-${name}\"))"
    } },
  )
  # Rules look back for 25 hours: that a run did not come is seen of what runs every day.
  daily = { for name, function in local.scheduled : name => function if var.alerts != null && endswith(function.schedule, " * * *") }
}

resource "google_monitoring_dashboard" "this" {
  project = var.project
  dashboard_json = jsonencode({
    displayName = var.name
    gridLayout = {
      columns = "2"
      widgets = [
        for chart in concat([{ text = "requests a second", filter = local.requests, aligner = "ALIGN_RATE", reducer = "REDUCE_SUM" }], values(local.charts)) : {
          title = chart.text
          xyChart = { dataSets = [{
            plotType = "LINE"
            timeSeriesQuery = { timeSeriesFilter = {
              filter = chart.filter
              aggregation = {
                alignmentPeriod    = "60s"
                perSeriesAligner   = chart.aligner
                crossSeriesReducer = chart.reducer
                groupByFields      = ["resource.label.service_name"]
              }
            } }
          }] }
        }
      ]
    }
  })
}

resource "google_monitoring_notification_channel" "mail" {
  count = var.alerts == null ? 0 : 1

  project      = var.project
  display_name = "${var.name} alerts"
  type         = "email"
  labels       = { email_address = var.alerts.email }
}

resource "google_monitoring_alert_policy" "requests" {
  for_each = var.alerts == null ? {} : local.charts

  project               = var.project
  display_name          = "${var.name}: ${each.value.text}"
  combiner              = "OR"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  documentation {
    content = each.value.todo
  }
  conditions {
    display_name = each.value.condition
    condition_threshold {
      filter             = each.value.filter
      denominator_filter = each.value.denominator
      comparison         = "COMPARISON_GT"
      threshold_value    = each.value.most
      duration           = "300s"

      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = each.value.aligner
        cross_series_reducer = each.value.reducer
      }
      dynamic "denominator_aggregations" {
        for_each = each.value.denominator == null ? [] : [each.value]
        content {
          alignment_period     = "60s"
          per_series_aligner   = denominator_aggregations.value.aligner
          cross_series_reducer = denominator_aggregations.value.reducer
        }
      }
    }
  }
}

# Asks for readiness as Monitoring's own account, which the functions' gate lets in: also while
# nobody else calls.
resource "google_monitoring_uptime_check_config" "health" {
  for_each = var.alerts == null ? {} : local.timed

  project      = var.project
  display_name = "${var.name}-${each.key}"
  period       = "300s"
  timeout      = "30s"

  http_check {
    path         = "/v1/ready"
    port         = 443
    use_ssl      = true
    validate_ssl = true
    service_agent_authentication {
      type = "OIDC_TOKEN"
    }
  }
  monitored_resource {
    type = "uptime_url"
    labels = {
      project_id = var.project
      host       = trimprefix(google_cloudfunctions2_function.this[each.key].service_config[0].uri, "https://")
    }
  }
}

# Google makes the account with the project's first check.
resource "google_cloud_run_service_iam_member" "monitoring" {
  for_each = google_monitoring_uptime_check_config.health

  project  = var.project
  location = var.region
  service  = google_cloudfunctions2_function.this[each.key].name
  role     = "roles/run.invoker"
  member   = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-monitoring-notification.iam.gserviceaccount.com"
}

resource "google_monitoring_alert_policy" "down" {
  for_each = google_monitoring_uptime_check_config.health

  project               = var.project
  display_name          = "${var.name}: ${each.key} is down"
  combiner              = "OR"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  documentation {
    content = local.runbook.down
  }
  conditions {
    display_name = "not ready in two places of the world"
    condition_threshold {
      filter          = "resource.type=\"uptime_url\" AND metric.type=\"monitoring.googleapis.com/uptime_check/check_passed\" AND metric.labels.check_id=\"${each.value.uptime_check_id}\""
      comparison      = "COMPARISON_GT"
      threshold_value = 1
      duration        = "300s"

      aggregations {
        alignment_period     = "1200s"
        per_series_aligner   = "ALIGN_NEXT_OLDER"
        cross_series_reducer = "REDUCE_COUNT_FALSE"
        group_by_fields      = ["resource.label.host"]
      }
    }
  }
  # Google deletes no check that a policy names: the policy goes first, and comes back with the new
  # one.
  lifecycle {
    replace_triggered_by = [google_monitoring_uptime_check_config.health[each.key]]
  }
}

resource "google_monitoring_alert_policy" "line" {
  for_each = local.lines

  project               = var.project
  display_name          = "${var.name}: ${each.value.text}"
  combiner              = "OR"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  documentation {
    content = each.value.todo
  }
  conditions {
    display_name = "a line in the log"
    condition_matched_log {
      filter = each.value.filter
    }
  }
  alert_strategy {
    auto_close = "86400s"
    notification_rate_limit {
      period = "3600s"
    }
  }
}

resource "google_monitoring_alert_policy" "absent" {
  for_each = local.daily

  project               = var.project
  display_name          = "${var.name}: ${each.key} does not run"
  combiner              = "OR"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  documentation {
    content = local.runbook.absent
  }
  conditions {
    display_name = "no run that finished all tables for 25 hours"
    condition_absent {
      filter   = "resource.type=\"cloud_run_revision\" AND ${local.service_filters[each.key]} AND metric.type=\"run.googleapis.com/request_count\" AND metric.labels.response_code_class=\"2xx\""
      duration = "3600s"

      # The sum and the duration make 25 hours; Google takes no longer sum.
      aggregations {
        alignment_period     = "86400s"
        per_series_aligner   = "ALIGN_SUM"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }
}

resource "google_billing_budget" "monthly" {
  count = var.budget == null ? 0 : 1

  billing_account = var.budget.billing_account
  display_name    = var.name

  budget_filter {
    projects = ["projects/${data.google_project.this.number}"]
  }
  amount {
    specified_amount {
      units = tostring(floor(var.budget.amount))
    }
  }
  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1]
    content {
      threshold_percent = threshold_rules.value
    }
  }
}
