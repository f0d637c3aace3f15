variable "project" {
  description = "Id of the Google Cloud project, with billing enabled."
  type        = string
}

variable "region" {
  description = "Region of the functions, such as us-east4."
  type        = string
  default     = "us-east4"
}

variable "database_location" {
  description = "Region, or multi-region such as nam5, of the database. Empty: the functions' region. Cannot be changed later."
  type        = string
  default     = ""
}

variable "service" {
  description = "First part of the names of everything."
  type        = string
  default     = "stowage"
}

variable "stage" {
  description = "Second part of the names: dev, prod, ..."
  type        = string
  default     = "dev"
}

variable "functions" {
  description = "The functions by name: the zip made by `npx serverless package` (relative to infra/gcp, or absolute), and limits. Memory in MB, concurrency in requests an instance. One with a schedule (five fields of cron, UTC) is called by Cloud Scheduler and by nobody else."
  type = map(object({
    package         = string
    timeout_seconds = number
    concurrency     = number
    instances_min   = optional(number, 0)
    instances_max   = number
    memory_mb       = number
    schedule        = optional(string, "")
  }))
  default = {
    records = { package = "../../.serverless/gcp-records.zip", timeout_seconds = 60, concurrency = 32, instances_max = 4, memory_mb = 2048 }
    compare = { package = "../../.serverless/gcp-compare.zip", timeout_seconds = 230, concurrency = 1, instances_max = 1, memory_mb = 2048 }
  }

  validation {
    # Each instance has one processor.
    condition     = sum([for function in values(var.functions) : function.instances_max]) <= var.processors_max
    error_message = "Together the functions' instances could take ${sum([for function in values(var.functions) : function.instances_max])} processors, and processors_max is ${var.processors_max}: lower instances_max, or have the quota \"Total CPU allocation per project per region\" of run.googleapis.com raised (https://console.cloud.google.com/iam-admin/quotas), and processors_max with it."
  }
}

variable "processors_max" {
  description = "Processors that the functions may take together: Cloud Run's quota for the project and region, 20 where nobody has raised it. Other stages and services of the project share it."
  type        = number
  default     = 20
}

variable "point_in_time_recovery" {
  description = "true keeps every version of the data for seven days, to read or restore from, which is billed as storage; otherwise for an hour."
  type        = bool
  default     = false
}

variable "backup_days" {
  description = "How many days a daily backup is kept, up to 98. 0: no backups are made."
  type        = number
  default     = 0
}

variable "namespace" {
  description = "Datastore namespace of the store. Empty: the default one."
  type        = string
  default     = ""
}

variable "environment" {
  description = "What all functions are told of the store beside where it is: variables that functions/README.md has."
  type        = map(string)
  default     = { STOWAGE_TIMEOUT_MS = "25000" }
}

variable "invokers" {
  description = "Who may call the functions, as IAM members such as user:you@example.com. Nobody else gets through; allUsers is refused."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for member in var.invokers : can(regex("^(user|group|serviceAccount):[^*]+@[^*]+$", member))])
    error_message = "Invokers are named: user:, group: or serviceAccount: and an address. The functions are never public."
  }
}

variable "deployers" {
  description = "Who deploys, as IAM members: may read the app keys. `npx serverless deploy` keeps those that were there."
  type        = list(string)
  default     = []
}

variable "keys" {
  description = "App keys of the roles read, write, admin and compare: one or several each, separated by commas, as functions/README.md has them. At least 16 characters. Written to Secret Manager when keys_version changes, and kept neither in the plan nor in the state. Example: TF_VAR_keys='{\"read\":\"...\",\"write\":\"...\",\"admin\":\"...\",\"compare\":\"...\"}'"
  type        = map(string)
  ephemeral   = true
  sensitive   = true
}

variable "keys_version" {
  description = "Raise it to write new keys."
  type        = number
  default     = 1
}

variable "data_only" {
  description = "true takes down everything but the data."
  type        = bool
  default     = false
}

variable "allow_data_deletion" {
  description = "true lifts the protection of the data; only then can it be destroyed."
  type        = bool
  default     = false
}

variable "alerts" {
  description = "E-mail alerts: of the requests of five minutes, if there are requests_min or more, more than error_percent % fail, are throttled or denied, or 1 % take longer than latency_ms; nothing is ready; what runs on a schedule fails. null: none."
  type        = object({ email = string, error_percent = number, latency_ms = number, requests_min = number })
  default     = null
}

variable "budget" {
  description = "Mails the billing account's administrators at 50, 90 and 100 % of a monthly amount in the account's currency. It stops nothing. null: none."
  type        = object({ billing_account = string, amount = number })
  default     = null
}
