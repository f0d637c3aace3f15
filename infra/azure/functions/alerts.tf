# Logs, alerts and a budget. Logs always exist; alerts and a budget only if their variables are set.

resource "azurerm_log_analytics_workspace" "this" {
  name                = var.name
  resource_group_name = azurerm_resource_group.functions.name
  location            = azurerm_resource_group.functions.location
  tags                = var.tags

  sku               = "PerGB2018"
  retention_in_days = 30
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
  # Rules look back for two days: that a run did not come is seen of what runs every day.
  is_daily = anytrue([for function in values(var.functions) : endswith(function.schedule, " * * *")])
  lines    = "traces | where message startswith \"{\" | extend line = parse_json(message)"

  alerts = var.alerts == null ? {} : merge(
    {
      errors = {
        text   = "More than ${var.alerts.error_percent} % of the requests fail."
        query  = "requests | summarize failed = countif(toint(resultCode) >= 500), total = count() | where 100.0 * failed > ${var.alerts.error_percent} * total"
        every  = "PT5M"
        window = "PT5M"
      }
      latency = {
        text   = "1 % of the requests take more than ${var.alerts.latency_ms} ms."
        query  = "requests | where cloud_RoleName in~ (${join(", ", [for app in local.timed : "\"${app.name}\""])}) | summarize p99 = percentile(duration, 99) | where p99 > ${var.alerts.latency_ms}"
        every  = "PT5M"
        window = "PT5M"
      }
      # Its status was sent before it failed, so no count of 5xx has it.
      late = {
        text   = "An answer broke off after its status was sent."
        query  = "${local.lines} | where line.severity == \"ERROR\" and toint(line.status) < 500"
        every  = "PT5M"
        window = "PT5M"
      }
    },
    # A timer's invocation has no status of HTTP: its line says how it went, and the platform
    # whether it ended.
    local.scheduled == "" ? {} : { vacuum = {
      text   = "What runs on a schedule fails."
      query  = "union (${local.lines} | where line.severity == \"ERROR\"), (requests | where success == false) | where cloud_RoleName in~ (${local.scheduled})"
      every  = "PT15M"
      window = "PT15M"
    } },
    !local.is_daily ? {} : { absent = {
      text   = "What runs on a schedule has not run for 26 hours."
      query  = "union traces, requests | summarize runs = countif(timestamp > ago(26h) and cloud_RoleName in~ (${local.scheduled}) and message contains \"vacuum: \"), since = min(timestamp) | where runs == 0 and since < ago(26h)"
      every  = "PT6H"
      window = "P2D"
    } },
  )
}

# Asks for the health, which needs no key: also while nobody else calls.
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
    url                              = "https://${each.value.default_hostname}/v1/health"
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
  description         = "${each.key} is down: no health in two places of the world."
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
  evaluation_frequency    = each.value.every
  window_duration         = each.value.window
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
