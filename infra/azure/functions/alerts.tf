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
  # A cell of the comparison takes minutes, and so does what runs on a schedule: their times say nothing.
  timed = join(", ", [
    for name, app in azurerm_function_app_flex_consumption.this : "\"${app.name}\"" if name != "compare" && var.functions[name].schedule == ""
  ])
  alerts = var.alerts == null ? {} : {
    errors = {
      text  = "More than ${var.alerts.error_percent} % of the requests fail."
      query = "requests | summarize failed = countif(toint(resultCode) >= 500), total = count() | where 100.0 * failed > ${var.alerts.error_percent} * total"
    }
    latency = {
      text  = "1 % of the requests take more than ${var.alerts.latency_ms} ms."
      query = "requests | where cloud_RoleName in~ (${local.timed}) | summarize p99 = percentile(duration, 99) | where p99 > ${var.alerts.latency_ms}"
    }
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
  evaluation_frequency    = "PT5M"
  window_duration         = "PT5M"
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
