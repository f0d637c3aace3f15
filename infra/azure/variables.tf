# Id of the Azure subscription.
variable "subscription_id" { type = string }

# What the subscription is to be registered for, and is not yet. Registering takes the right to.
variable "resource_providers" {
  type    = list(string)
  default = []
}

# Region of everything, such as eastus. It has to offer Flex Consumption: az functionapp
# list-flexconsumption-locations.
variable "region" { type = string }

# First part of the names of everything.
variable "service" { type = string }

# Second part of the names: dev, prod, ...
variable "stage" { type = string }

# The stage's resource groups that somebody has made already: they are taken over.
variable "present_groups" {
  type    = list(string)
  default = []
}

# The functions by name: the zip made by `npx serverless package`, limits, and the roles whose app
# keys it is given. Memory in MB, concurrency in requests an instance. One with a schedule (five
# fields of cron, UTC) is called by the platform's timer and by nobody else. {}: only the data.
variable "functions" {
  type = map(object({
    package         = string
    timeout_seconds = number
    concurrency     = number
    instances_min   = optional(number, 0)
    instances_max   = number
    memory_mb       = number
    schedule        = optional(string, "")
    keys            = list(string)
  }))

  validation {
    condition     = alltrue([for function in values(var.functions) : function.timeout_seconds <= 230 || function.schedule != ""])
    error_message = "Azure ends every HTTP request after 230 seconds."
  }
}

# The physical table that holds the store's tables.
variable "table" { type = string }

# Replication of the data: LRS (one data centre), ZRS (a region's three), GRS, GZRS.
variable "replication" { type = string }

# What all functions are told of the store beside where it is: variables that functions/README.md
# has.
variable "environment" { type = map(string) }

# Who deploys, as object ids: may read and add app keys. Empty: whoever applies. `npx serverless
# deploy` keeps those that were there.
variable "deployers" { type = list(string) }

# true lifts the protection of the data; only then can it be destroyed.
variable "allow_data_deletion" {
  type    = bool
  default = false
}

# The most that logs take a day, in GB; further ones are dropped until the next day.
variable "logs_gb_daily" { type = number }

# E-mail alerts: of the requests of five minutes, if there are requests_min or more, more than
# error_percent % fail, are throttled or denied, or 1 % take longer than latency_ms; nothing is
# ready; what runs on a schedule fails. null: none.
variable "alerts" {
  type    = object({ email = string, error_percent = number, latency_ms = number, requests_min = number })
  default = null
}

# Mails at 50, 90 and 100 % of a monthly amount in the subscription's currency, counted from the
# month in which it is made. Covers the functions, not the data. It stops nothing. null: none.
variable "budget" {
  type    = object({ email = string, amount = number })
  default = null
}
