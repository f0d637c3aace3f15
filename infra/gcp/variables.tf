# Id of the Google Cloud project, with billing enabled.
variable "project" { type = string }

# Region of the functions, such as us-east4.
variable "region" { type = string }

# Region, or multi-region such as nam5, of the database. Empty: the functions' region. Cannot be
# changed later.
variable "database_location" { type = string }

# First part of the names of everything.
variable "service" { type = string }

# Second part of the names: dev, prod, ...
variable "stage" { type = string }

# The functions by name: the zip made by `npx serverless package`, limits, and the roles whose app
# keys it is given. Memory in MB, concurrency in requests an instance. One with a schedule (five
# fields of cron, UTC) is called by Cloud Scheduler and by nobody else. {}: only the data.
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
    # Each instance has one processor.
    condition     = sum(concat([0], values(var.functions)[*].instances_max)) <= var.processors_max
    error_message = "Together the functions' instances could take ${sum(concat([0], values(var.functions)[*].instances_max))} processors, and processors_max is ${var.processors_max}: lower instances_max, or have the quota \"Total CPU allocation per project per region\" of run.googleapis.com raised (https://console.cloud.google.com/iam-admin/quotas), and processors_max with it."
  }
}

# Processors that the functions may take together: Cloud Run's quota for the project and region,
# 20 where nobody has raised it. Other stages and services of the project share it.
variable "processors_max" { type = number }

# true keeps every version of the data for seven days, to read or restore from, which is billed as
# storage; otherwise for an hour.
variable "point_in_time_recovery" { type = bool }

# How many days a daily backup is kept, up to 98. 0: no backups are made.
variable "backup_days" { type = number }

# Datastore namespace of the store. Empty: the default one.
variable "namespace" { type = string }

# What all functions are told of the store beside where it is: variables that functions/README.md
# has.
variable "environment" { type = map(string) }

# Who may call the functions, as IAM members such as user:you@example.com. Nobody else gets
# through.
variable "invokers" { type = list(string) }

# Who deploys, as IAM members: may read the app keys. `npx serverless deploy` keeps those that
# were there.
variable "deployers" { type = list(string) }

# true lifts the protection of the data; only then can it be destroyed.
variable "allow_data_deletion" {
  type    = bool
  default = false
}

# E-mail alerts: of the requests of five minutes, if there are requests_min or more, more than
# error_percent % fail, are throttled or denied, or 1 % take longer than latency_ms; nothing is
# ready; what runs on a schedule fails. null: none.
variable "alerts" {
  type    = object({ email = string, error_percent = number, latency_ms = number, requests_min = number })
  default = null
}

# Mails the billing account's administrators at 50, 90 and 100 % of a monthly amount in the
# account's currency. It stops nothing. null: none.
variable "budget" {
  type    = object({ billing_account = string, amount = number })
  default = null
}
