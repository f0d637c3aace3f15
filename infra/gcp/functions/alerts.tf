# A dashboard, which costs nothing; alerts and a budget if their variables are set.

locals {
  service_filters = { for name, function in google_cloudfunctions2_function.this : name => "resource.labels.service_name=\"${function.name}\"" }
  # A cell of the comparison takes minutes and an instance, and what runs on a schedule answers
  # nobody else.
  answering = { for name in keys(local.called) : name => local.service_filters[name] if name != "compare" }
  timed     = "resource.type=\"cloud_run_revision\" AND (${join(" OR ", values(local.answering))})"
  services  = "resource.type=\"cloud_run_revision\" AND (${join(" OR ", values(local.service_filters))})"
  requests  = "${local.services} AND metric.type=\"run.googleapis.com/request_count\""

  shares = {
    errors    = { text = "requests fail", codes = "5xx", filter = "metric.labels.response_code_class=\"5xx\"" }
    throttled = { text = "requests are throttled", codes = "429", filter = "metric.labels.response_code=\"429\"" }
    denied    = { text = "requests are denied", codes = "401 and 403", filter = "metric.labels.response_code=monitoring.regex.full_match(\"401|403\")" }
  }
  # Each is a chart of the dashboard, and an alert above `most` of at least requests_min requests
  # (`counted`), both of the last five minutes.
  figures = merge(
    { for name, share in local.shares : name => {
      text        = share.text
      figure      = "${share.codes} a second"
      filter      = "${local.requests} AND ${share.filter}"
      denominator = local.requests
      counted     = local.requests
      most        = try(var.alerts.error_percent / 100, 0)
      aligner     = "ALIGN_RATE"
      reducer     = "REDUCE_SUM"
    } },
    { latency = {
      text        = "requests are slow"
      figure      = "p99 in ms"
      filter      = "${local.timed} AND metric.type=\"run.googleapis.com/request_latencies\""
      denominator = null
      counted     = "${local.timed} AND metric.type=\"run.googleapis.com/request_count\""
      most        = try(var.alerts.latency_ms, 0)
      aligner     = "ALIGN_DELTA"
      # All requests count together: a rare status has a series of its own.
      reducer = "REDUCE_PERCENTILE_99"
    } },
  )
  charts = merge(
    {
      requests  = { figure = "requests a second", filter = local.requests, aligner = "ALIGN_RATE", reducer = "REDUCE_SUM" }
      instances = { figure = "active instances", filter = "${local.services} AND metric.type=\"run.googleapis.com/container/instance_count\" AND metric.labels.state=\"active\"", aligner = "ALIGN_MAX", reducer = "REDUCE_SUM" }
    },
    local.figures,
  )
}

resource "google_monitoring_dashboard" "this" {
  project = var.project
  dashboard_json = jsonencode({
    displayName = var.name
    gridLayout = {
      columns = "2"
      widgets = [
        for chart in values(local.charts) : {
          title = chart.figure
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
  for_each = var.alerts == null ? {} : local.figures

  project               = var.project
  display_name          = "${var.name}: ${each.value.text}"
  combiner              = "AND"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  conditions {
    display_name = each.value.denominator == null ? "1 % above ${each.value.most} ms" : "above ${each.value.most * 100} %"
    condition_threshold {
      filter             = each.value.filter
      denominator_filter = each.value.denominator
      comparison         = "COMPARISON_GT"
      threshold_value    = each.value.most
      duration           = "0s"

      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = each.value.aligner
        cross_series_reducer = each.value.reducer
      }
      dynamic "denominator_aggregations" {
        for_each = each.value.denominator == null ? [] : [each.value]
        content {
          alignment_period     = "300s"
          per_series_aligner   = denominator_aggregations.value.aligner
          cross_series_reducer = denominator_aggregations.value.reducer
        }
      }
    }
  }
  conditions {
    display_name = "of ${var.alerts.requests_min} requests or more"
    condition_threshold {
      filter     = each.value.counted
      comparison = "COMPARISON_GT"
      # Above is at least one more.
      threshold_value = var.alerts.requests_min - 0.5
      duration        = "0s"

      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }
}

# Asks for readiness as Monitoring's own account, which the functions' gate lets in: also while
# nobody else calls.
resource "google_monitoring_uptime_check_config" "health" {
  for_each = var.alerts == null ? {} : local.answering

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

# The line of a run that did not finish all tables, what ended without a line, and the scheduler's
# own attempts that reached nobody.
resource "google_monitoring_alert_policy" "scheduled" {
  for_each = var.alerts == null ? {} : local.scheduled

  project               = var.project
  display_name          = "${var.name}: ${each.key} fails"
  combiner              = "OR"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  conditions {
    display_name = "a line in the log"
    condition_matched_log {
      filter = "severity>=ERROR AND ((resource.type=\"cloud_run_revision\" AND ${local.service_filters[each.key]}) OR (resource.type=\"cloud_scheduler_job\" AND resource.labels.job_id=\"${var.name}-${each.key}\"))"
    }
  }
  alert_strategy {
    auto_close = "86400s"
    notification_rate_limit {
      period = "3600s"
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
