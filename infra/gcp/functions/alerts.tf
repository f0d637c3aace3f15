# Alerts and a budget. None of it exists unless the variables alerts or budget are set.

locals {
  services = join(" OR ", [for function in google_cloudfunctions2_function.this : "resource.labels.service_name=\"${function.name}\""])
  # A cell of the comparison takes minutes, and so does what runs on a schedule: their times say nothing.
  timed    = join(" OR ", [for name in keys(local.called) : "resource.labels.service_name=\"${var.name}-${name}\"" if name != "compare"])
  requests = "resource.type=\"cloud_run_revision\" AND (${local.services}) AND metric.type=\"run.googleapis.com/request_count\""
  latency  = "resource.type=\"cloud_run_revision\" AND (${local.timed}) AND metric.type=\"run.googleapis.com/request_latencies\""
}

resource "google_monitoring_notification_channel" "mail" {
  count = var.alerts == null ? 0 : 1

  display_name = "${var.name} alerts"
  type         = "email"
  labels       = { email_address = var.alerts.email }
}

resource "google_monitoring_alert_policy" "errors" {
  count = var.alerts == null ? 0 : 1

  display_name          = "${var.name}: requests fail"
  combiner              = "OR"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  conditions {
    display_name = "5xx above ${var.alerts.error_percent} %"
    condition_threshold {
      filter             = "${local.requests} AND metric.labels.response_code_class=\"5xx\""
      denominator_filter = local.requests
      comparison         = "COMPARISON_GT"
      threshold_value    = var.alerts.error_percent / 100
      duration           = "300s"

      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_RATE"
        cross_series_reducer = "REDUCE_SUM"
      }
      denominator_aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_RATE"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }
}

resource "google_monitoring_alert_policy" "latency" {
  count = var.alerts == null ? 0 : 1

  display_name          = "${var.name}: requests are slow"
  combiner              = "OR"
  notification_channels = google_monitoring_notification_channel.mail[*].id

  conditions {
    display_name = "1 % above ${var.alerts.latency_ms} ms"
    condition_threshold {
      filter          = local.latency
      comparison      = "COMPARISON_GT"
      threshold_value = var.alerts.latency_ms
      duration        = "300s"

      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_PERCENTILE_99"
        cross_series_reducer = "REDUCE_MAX"
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
