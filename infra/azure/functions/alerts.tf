# Logs and a workbook; alerts and a budget if their variables are set.

resource "azurerm_log_analytics_workspace" "this" {
  name                = var.name
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  tags                = var.tags

  sku               = "PerGB2018"
  retention_in_days = 30
  # Further logs are dropped until the next day.
  daily_quota_gb = var.logs_gb_daily
  # Its shared keys, which the state knows, open nothing.
  local_authentication_enabled = false
}

resource "azurerm_application_insights" "this" {
  name                = var.name
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  tags                = var.tags

  application_type             = "web"
  workspace_id                 = azurerm_log_analytics_workspace.this.id
  local_authentication_enabled = false
}

resource "azurerm_application_insights_workbook" "this" {
  # The same stage always has the same one.
  name                = uuidv5("url", "https://${var.name}-${var.suffix}")
  display_name        = var.name
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  source_id           = lower(azurerm_application_insights.this.id)
  tags                = var.tags

  data_json = jsonencode({
    version             = "Notebook/1.0"
    fallbackResourceIds = [azurerm_application_insights.this.id]
    items = [for title, chart in local.charts : {
      type = 3
      name = title
      content = {
        version       = "KqlItem/1.0"
        title         = title
        query         = chart.query
        queryType     = 0
        resourceType  = "microsoft.insights/components"
        visualization = chart.as
        timeContext   = { durationMs = 86400000 }
      }
    }]
  })
}

resource "azurerm_monitor_action_group" "mail" {
  count = var.alerts == null ? 0 : 1

  name                = "${var.name}-alerts"
  short_name          = "stowage"
  resource_group_name = azurerm_resource_group.functions.name
  tags                = var.tags

  email_receiver {
    name          = "alerts"
    email_address = var.alerts.email
  }
}

locals {
  # A cell of the comparison takes minutes and an instance, and what runs on a schedule answers
  # nobody else.
  timed = { for name, app in azurerm_function_app_flex_consumption.this : name => app if name != "compare" && var.functions[name].schedule == "" }
  scheduled = join(", ", [
    for name, app in azurerm_function_app_flex_consumption.this : "\"${app.name}\"" if var.functions[name].schedule != ""
  ])
  lines = "traces | where message startswith \"{\" | extend line = parse_json(message)"

  shares = {
    errors    = { text = "fail", codes = "toint(resultCode) >= 500" }
    throttled = { text = "are throttled", codes = "resultCode == \"429\"" }
    denied    = { text = "are denied", codes = "resultCode in (\"401\", \"403\")" }
  }

  figures = merge(
    { requests = "count()", "slowest 1 %, in ms" = "percentile(duration, 99)", instances = "dcount(cloud_RoleInstance)" },
    { for share in values(local.shares) : "requests that ${share.text}" => "countif(${share.codes})" },
  )
  charts = merge(
    { for title, figure in local.figures : title => {
      query = "requests | summarize ${figure} by bin(timestamp, 5m), cloud_RoleName"
      as    = "timechart"
    } },
    {
      "slow routes" = {
        query = "${local.lines} | summarize requests = count(), p99_ms = percentile(todouble(line.durationMs), 99) by route = tostring(line.route) | order by p99_ms desc"
        as    = "table"
      }
      # Also after its status was sent.
      failures = {
        query = "${local.lines} | where line.severity == \"ERROR\" and isnotempty(line.code) | project timestamp, line.route, line.code, line.causes, line.requestId"
        as    = "table"
      }
    },
  )

  alerts = var.alerts == null ? {} : merge(
    { for name, share in local.shares : name => {
      text  = "More than ${var.alerts.error_percent} % of ${var.alerts.requests_min} requests or more ${share.text}."
      query = "requests | summarize found = countif(${share.codes}), total = count() | where total >= ${var.alerts.requests_min} and 100.0 * found > ${var.alerts.error_percent} * total"
      span  = "PT5M"
    } },
    { latency = {
      text  = "1 % of ${var.alerts.requests_min} requests or more take more than ${var.alerts.latency_ms} ms."
      query = "requests | where cloud_RoleName in~ (${join(", ", [for app in local.timed : "\"${app.name}\""])}) | summarize p99 = percentile(duration, 99), total = count() | where total >= ${var.alerts.requests_min} and p99 > ${var.alerts.latency_ms}"
      span  = "PT5M"
    } },
    # A timer's invocation has no status of HTTP: its line says how it went, and the platform
    # whether it ended.
    local.scheduled == "" ? {} : { vacuum = {
      text  = "What runs on a schedule fails."
      query = "union (${local.lines} | where line.severity == \"ERROR\"), (requests | where success == false) | where cloud_RoleName in~ (${local.scheduled})"
      span  = "PT15M"
    } },
  )
}

# Asks for readiness, which needs no key: also while nobody else calls.
resource "azurerm_application_insights_standard_web_test" "health" {
  for_each = var.alerts == null ? {} : local.timed

  name                    = each.value.name
  resource_group_name     = azurerm_resource_group.functions.name
  location                = azurerm_resource_group.functions.location
  application_insights_id = azurerm_application_insights.this.id
  tags                    = var.tags

  enabled       = true
  retry_enabled = true
  # Billed by the question.
  frequency     = 900
  timeout       = 30
  geo_locations = ["us-va-ash-azr", "emea-nl-ams-azr", "apac-sg-sin-azr"]

  request {
    url                              = "https://${each.value.default_hostname}/v1/ready"
    follow_redirects_enabled         = false
    parse_dependent_requests_enabled = false
  }
  validation_rules {
    expected_status_code = 200
  }
}

resource "azurerm_monitor_metric_alert" "down" {
  for_each = azurerm_application_insights_standard_web_test.health

  name                = "${var.name}-${each.key}-down"
  description         = "${each.key} is down: not ready in two places of the world."
  resource_group_name = azurerm_resource_group.functions.name
  tags                = var.tags

  scopes      = [each.value.id, azurerm_application_insights.this.id]
  severity    = 1
  frequency   = "PT5M"
  window_size = "PT30M"

  application_insights_web_test_location_availability_criteria {
    web_test_id           = each.value.id
    component_id          = azurerm_application_insights.this.id
    failed_location_count = 2
  }
  action {
    action_group_id = one(azurerm_monitor_action_group.mail[*].id)
  }
}

resource "azurerm_monitor_scheduled_query_rules_alert_v2" "this" {
  for_each = local.alerts

  name                = "${var.name}-${each.key}"
  description         = each.value.text
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  tags                = var.tags

  scopes                  = [azurerm_application_insights.this.id]
  severity                = 2
  evaluation_frequency    = each.value.span
  window_duration         = each.value.span
  auto_mitigation_enabled = true

  criteria {
    query                   = each.value.query
    time_aggregation_method = "Count"
    operator                = "GreaterThan"
    threshold               = 0
  }
  action {
    action_groups = azurerm_monitor_action_group.mail[*].id
  }
}

resource "azurerm_consumption_budget_resource_group" "monthly" {
  count = var.budget == null ? 0 : 1

  name              = var.name
  resource_group_id = azurerm_resource_group.functions.id
  amount            = var.budget.amount
  time_grain        = "Monthly"

  # Azure takes no month that is over for a new budget, and none but the first for a present one.
  time_period {
    start_date = formatdate("YYYY-MM-01'T'00:00:00Z", plantimestamp())
  }
  lifecycle {
    ignore_changes = [time_period]
  }
  dynamic "notification" {
    for_each = [50, 90, 100]
    content {
      operator       = "GreaterThanOrEqualTo"
      threshold      = notification.value
      contact_emails = [var.budget.email]
    }
  }
}
