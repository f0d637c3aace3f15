# Logs and a workbook; alerts and a budget if their variables are set.

resource "azurerm_log_analytics_workspace" "this" {
  count = local.shared

  name                = local.name
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  tags                = local.tags

  sku               = "PerGB2018"
  retention_in_days = 30
  # Further logs are dropped until the next day.
  daily_quota_gb = var.logs_gb_daily
  # Its shared keys, which the state knows, open nothing.
  local_authentication_enabled = false
}

resource "azurerm_application_insights" "this" {
  count = local.shared

  name                = local.name
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  tags                = local.tags

  application_type             = "web"
  workspace_id                 = azurerm_log_analytics_workspace.this[0].id
  local_authentication_enabled = false
}

locals {
  apps = azurerm_function_app_flex_consumption.this
  # A cell of the comparison takes minutes and an instance, and what runs on a schedule answers
  # nobody else.
  timed     = { for name, app in local.apps : name => app if name != "compare" && var.functions[name].schedule == "" }
  scheduled = join(", ", [for name, app in local.apps : "\"${app.name}\"" if var.functions[name].schedule != ""])
  lines     = "traces | where message startswith \"{\" | extend line = parse_json(message)"

  # `codes` of all requests, as shares.
  shares = {
    errors    = { text = "fail", figure = "5xx", codes = "toint(resultCode) >= 500" }
    throttled = { text = "are throttled", figure = "429", codes = "resultCode == \"429\"" }
    denied    = { text = "are denied", figure = "401 and 403", codes = "resultCode in (\"401\", \"403\")" }
  }

  queries = merge(
    { for title, figure in merge(
      { "requests in 5 minutes" = "count()", "requests, p99 in ms" = "percentile(duration, 99)", "active instances" = "dcount(cloud_RoleInstance)" },
      { for share in values(local.shares) : "requests answered ${share.figure}, in 5 minutes" => "countif(${share.codes})" },
    ) : title => { query = "requests | summarize ${figure} by bin(timestamp, 5m), cloud_RoleName", as = "timechart" } },
    {
      # The functions tell once a minute how long the database took; see functions/README.md.
      "database: p99 in ms, as functions see it" = {
        query = "${local.lines} | where isnotnull(line.storeP99Ms) | summarize max(todouble(line.storeP99Ms)) by bin(timestamp, 5m), cloud_RoleName"
        as    = "timechart"
      }
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
  # Figures of the data's account: transactions by ApiName are reads and writes, by ResponseType
  # also what was throttled, as ServerBusyError and ClientThrottlingError.
  metrics = {
    "database: reads and writes, a minute"      = { metric = "Transactions", aggregation = 1, by = "ApiName" }
    "database: answers a minute, by their kind" = { metric = "Transactions", aggregation = 1, by = "ResponseType" }
  }
}

resource "azurerm_application_insights_workbook" "this" {
  count = local.shared

  # The same stage always has the same one.
  name                = uuidv5("url", "https://${local.name}-${local.suffix}")
  display_name        = local.name
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  source_id           = lower(azurerm_application_insights.this[0].id)
  tags                = local.tags

  data_json = jsonencode({
    version             = "Notebook/1.0"
    fallbackResourceIds = [azurerm_application_insights.this[0].id]
    items = concat(
      [for title, chart in local.queries : {
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
      }],
      [for title, chart in local.metrics : {
        type = 10
        name = title
        content = {
          version      = "MetricsItem/2.0"
          title        = title
          chartType    = 2
          resourceType = "microsoft.storage/storageaccounts"
          metricScope  = 0
          resourceIds  = [azurerm_storage_account.data.id]
          timeContext  = { durationMs = 86400000, grain = 60000 }
          metrics = [{
            namespace   = "microsoft.storage/storageaccounts/tableservices"
            metric      = "microsoft.storage/storageaccounts/tableservices-Transaction-${chart.metric}"
            aggregation = chart.aggregation
            splitBy     = chart.by
          }]
        }
      }],
    )
  })
}

# --- alerts

locals {
  limits = coalesce(var.alerts, { email = "", error_percent = 0, latency_ms = 0, requests_min = 0 })
  alerts = { for name, alert in merge(
    { for name, share in local.shares : name => {
      text  = "More than ${local.limits.error_percent} % of ${local.limits.requests_min} requests or more ${share.text}."
      query = "requests | summarize found = countif(${share.codes}), total = count() | where total >= ${local.limits.requests_min} and 100.0 * found > ${local.limits.error_percent} * total"
      span  = "PT5M"
    } },
    { latency = {
      text  = "1 % of ${local.limits.requests_min} requests or more take more than ${local.limits.latency_ms} ms."
      query = "requests | where cloud_RoleName in~ (${join(", ", [for app in local.timed : "\"${app.name}\""])}) | summarize p99 = percentile(duration, 99), total = count() | where total >= ${local.limits.requests_min} and p99 > ${local.limits.latency_ms}"
      span  = "PT5M"
    } },
    # A timer's invocation has no status of HTTP: its line says how it went, and the platform
    # whether it ended.
    local.scheduled == "" ? {} : { vacuum = {
      text  = "What runs on a schedule fails."
      query = "union (${local.lines} | where line.severity == \"ERROR\"), (requests | where success == false) | where cloud_RoleName in~ (${local.scheduled})"
      span  = "PT15M"
    } },
    { down = {
      text  = "Not ready in two places of the world."
      query = "availabilityResults | summarize arg_max(timestamp, success) by name, location | where tolower(success) in (\"0\", \"false\") | summarize places = dcount(location) by name | where places >= 2"
      span  = "PT30M"
    } },
  ) : name => alert if var.alerts != null && local.shared == 1 }
}

resource "azurerm_monitor_action_group" "mail" {
  count = var.alerts == null ? 0 : local.shared

  name                = "${local.name}-alerts"
  short_name          = "stowage"
  resource_group_name = azurerm_resource_group.functions[0].name
  tags                = local.tags

  email_receiver {
    name          = "alerts"
    email_address = var.alerts.email
  }
}

resource "azurerm_monitor_scheduled_query_rules_alert_v2" "this" {
  for_each = local.alerts

  name                = "${local.name}-${each.key}"
  description         = each.value.text
  resource_group_name = azurerm_resource_group.functions[0].name
  location            = var.region
  tags                = local.tags

  scopes                  = azurerm_application_insights.this[*].id
  severity                = 2
  evaluation_frequency    = each.key == "down" ? "PT5M" : each.value.span
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

# Asks for readiness, which needs no key: also while nobody else calls.
resource "azurerm_application_insights_standard_web_test" "ready" {
  for_each = var.alerts == null ? {} : local.timed

  name                    = each.value.name
  resource_group_name     = azurerm_resource_group.functions[0].name
  location                = var.region
  application_insights_id = azurerm_application_insights.this[0].id
  tags                    = local.tags

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

resource "azurerm_consumption_budget_resource_group" "monthly" {
  count = var.budget == null ? 0 : local.shared

  name              = local.name
  resource_group_id = azurerm_resource_group.functions[0].id
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
