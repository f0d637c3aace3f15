# A dashboard, which costs nothing; alerts and a budget if their variables are set.

locals {
  service_filters = { for name, function in google_cloudfunctions2_function.this : name => "resource.labels.service_name=\"${function.name}\"" }
  # A cell of the comparison takes minutes and an instance, and what runs on a schedule answers
  # nobody else.
  answering = { for name in keys(local.called) : name => local.service_filters[name] if name != "compare" }
  timed     = "resource.type=\"cloud_run_revision\" AND (${join(" OR ", values(local.answering))})"
  services  = "resource.type=\"cloud_run_revision\" AND (${join(" OR ", values(local.service_filters))})"
  requests  = "${local.services} AND metric.type=\"run.googleapis.com/request_count\""
  database  = "resource.type=\"firestore.googleapis.com/Database\" AND resource.labels.database_id=\"${google_firestore_database.store.name}\""

  # `codes` of all requests, as shares.
  shares = {
    errors    = { text = "requests fail", codes = "5xx", filter = "metric.labels.response_code_class=\"5xx\"" }
    throttled = { text = "requests are throttled", codes = "429", filter = "metric.labels.response_code=\"429\"" }
    denied    = { text = "requests are denied", codes = "401 and 403", filter = "metric.labels.response_code=monitoring.regex.full_match(\"401|403\")" }
  }
  # Durations of all requests count together: a rare status has a series of its own.
  latency = { filter = "${local.timed} AND metric.type=\"run.googleapis.com/request_latencies\"", aligner = "ALIGN_DELTA", reducer = "REDUCE_PERCENTILE_99" }

  by_service = { aligner = "ALIGN_RATE", reducer = "REDUCE_SUM", by = "resource.label.service_name" }
  by_method  = { aligner = "ALIGN_RATE", reducer = "REDUCE_SUM", by = "metric.label.api_method" }
  charts = merge(
    {
      "requests, a second"  = merge(local.by_service, { filter = local.requests })
      "requests, p99 in ms" = merge(local.by_service, local.latency)
      "active instances"    = merge(local.by_service, { aligner = "ALIGN_MAX", filter = "${local.services} AND metric.type=\"run.googleapis.com/container/instance_count\" AND metric.labels.state=\"active\"" })
      # Reads are Lookup, RunQuery and BeginTransaction, writes are Commit.
      "database: reads and writes, a second"     = merge(local.by_method, { filter = "${local.database} AND metric.type=\"firestore.googleapis.com/api/request_count\"" })
      "database: throttled requests, a second"   = merge(local.by_method, { filter = "${local.database} AND metric.type=\"firestore.googleapis.com/api/request_count\" AND metric.labels.response_code=\"RESOURCE_EXHAUSTED\"" })
      "database: p99 in ms, as functions see it" = merge(local.by_service, { aligner = "ALIGN_DELTA", reducer = "REDUCE_PERCENTILE_99", filter = "${local.services} AND metric.type=\"logging.googleapis.com/user/${local.name}-store\"" })
    },
    { for share in values(local.shares) : "requests answered ${share.codes}, a second" => merge(local.by_service, { filter = "${local.requests} AND ${share.filter}" }) },
  )
}

# The functions tell once a minute how long the database took; see functions/README.md.
resource "google_logging_metric" "store" {
  count = local.shared

  project         = var.project
  name            = "${local.name}-store"
  filter          = "${local.services} AND jsonPayload.storeP99Ms>=0"
  value_extractor = "EXTRACT(jsonPayload.storeP99Ms)"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "DISTRIBUTION"
    unit        = "ms"
  }
}

resource "google_monitoring_dashboard" "this" {
  count = local.shared

  project = var.project
  dashboard_json = jsonencode({
    displayName = local.name
    gridLayout = {
      columns = "2"
      widgets = [for title, chart in local.charts : {
        title = title
        xyChart = { dataSets = [{
          plotType = "LINE"
          timeSeriesQuery = { timeSeriesFilter = {
            filter = chart.filter
            aggregation = {
              alignmentPeriod    = "60s"
              perSeriesAligner   = chart.aligner
              crossSeriesReducer = chart.reducer
              groupByFields      = [chart.by]
            }
          } }
        }] }
      }]
    }
  })

  depends_on = [google_logging_metric.store]
}

# --- alerts

locals {
  limits = coalesce(var.alerts, { email = "", error_percent = 0, latency_ms = 0, requests_min = 0 })
  # Below this many requests in five minutes a share says nothing. Above is at least one more.
  enough = { filter = local.requests, aligner = "ALIGN_DELTA", reducer = "REDUCE_SUM", above = local.limits.requests_min - 0.5 }
  # An alert fires when all its conditions hold, or a line of the log matches.
  alerts = { for name, alert in merge(
    { for name, share in local.shares : name => {
      text = share.text
      conditions = {
        "above ${local.limits.error_percent} %" = { filter = "${local.requests} AND ${share.filter}", of = local.requests, aligner = "ALIGN_RATE", reducer = "REDUCE_SUM", above = local.limits.error_percent / 100 }
        "of enough requests"                    = local.enough
      }
    } },
    { latency = {
      text = "requests are slow"
      conditions = {
        "1 % above ${local.limits.latency_ms} ms" = merge(local.latency, { above = local.limits.latency_ms })
        "of enough requests"                      = merge(local.enough, { filter = "${local.timed} AND metric.type=\"run.googleapis.com/request_count\"" })
      }
    } },
    { for name, check in google_monitoring_uptime_check_config.ready : "${name} down" => {
      text = "${name} is down"
      conditions = { "not ready in two places of the world" = {
        filter  = "resource.type=\"uptime_url\" AND metric.type=\"monitoring.googleapis.com/uptime_check/check_passed\" AND metric.labels.check_id=\"${check.uptime_check_id}\""
        aligner = "ALIGN_NEXT_OLDER", reducer = "REDUCE_COUNT_FALSE", above = 1, by = ["resource.label.host"], period = "1200s", duration = "300s"
      } }
    } },
    # The line of a run that did not finish all tables, what ended without a line, and the
    # scheduler's own attempts that reached nobody.
    { for name in keys(local.scheduled) : "${name} fails" => {
      text = "${name} fails"
      log  = "severity>=ERROR AND ((resource.type=\"cloud_run_revision\" AND ${local.service_filters[name]}) OR (resource.type=\"cloud_scheduler_job\" AND resource.labels.job_id=\"${local.name}-${name}\"))"
    } },
  ) : name => alert if var.alerts != null && local.shared == 1 }
}

resource "google_monitoring_notification_channel" "mail" {
  count = var.alerts == null ? 0 : local.shared

  project      = var.project
  display_name = "${local.name} alerts"
  type         = "email"
  labels       = { email_address = var.alerts.email }
}

resource "google_monitoring_alert_policy" "this" {
  for_each = local.alerts

  project               = var.project
  display_name          = "${local.name}: ${each.value.text}"
  combiner              = "AND"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  dynamic "conditions" {
    for_each = try(each.value.conditions, {})
    content {
      display_name = conditions.key
      condition_threshold {
        filter             = conditions.value.filter
        denominator_filter = try(conditions.value.of, null)
        comparison         = "COMPARISON_GT"
        threshold_value    = conditions.value.above
        duration           = try(conditions.value.duration, "0s")

        aggregations {
          alignment_period     = try(conditions.value.period, "300s")
          per_series_aligner   = conditions.value.aligner
          cross_series_reducer = conditions.value.reducer
          group_by_fields      = try(conditions.value.by, null)
        }
        dynamic "denominator_aggregations" {
          for_each = can(conditions.value.of) ? [conditions.value] : []
          content {
            alignment_period     = "300s"
            per_series_aligner   = denominator_aggregations.value.aligner
            cross_series_reducer = denominator_aggregations.value.reducer
          }
        }
      }
    }
  }
  dynamic "conditions" {
    for_each = can(each.value.log) ? [each.value.log] : []
    content {
      display_name = "a line in the log"
      condition_matched_log {
        filter = conditions.value
      }
    }
  }
  dynamic "alert_strategy" {
    for_each = can(each.value.log) ? [each.value.log] : []
    content {
      auto_close = "86400s"
      notification_rate_limit {
        period = "3600s"
      }
    }
  }

  # Google deletes no check that a policy names: the policy goes first, and comes back with the new
  # one.
  lifecycle {
    replace_triggered_by = [google_monitoring_uptime_check_config.ready]
  }
}

# Asks for readiness as Monitoring's own account, which the functions' gate lets in: also while
# nobody else calls.
resource "google_monitoring_uptime_check_config" "ready" {
  for_each = var.alerts == null ? {} : local.answering

  project      = var.project
  display_name = "${local.name}-${each.key}"
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
  for_each = google_monitoring_uptime_check_config.ready

  project  = var.project
  location = var.region
  service  = google_cloudfunctions2_function.this[each.key].name
  role     = "roles/run.invoker"
  member   = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-monitoring-notification.iam.gserviceaccount.com"
}

resource "google_billing_budget" "monthly" {
  count = var.budget == null ? 0 : local.shared

  billing_account = var.budget.billing_account
  display_name    = local.name

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
