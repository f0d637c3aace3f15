variable "subscription_id" {
  description = "Id of the Azure subscription."
  type        = string
}

variable "resource_providers" {
  description = "What the subscription is registered for, if it is not yet. Registering takes the right to; empty: somebody else has done it."
  type        = list(string)
  default = [
    "Microsoft.AlertsManagement",
    "Microsoft.App",
    "Microsoft.Authorization",
    "Microsoft.Consumption",
    "Microsoft.Insights",
    "Microsoft.KeyVault",
    "Microsoft.OperationalInsights",
    "Microsoft.Storage",
    "Microsoft.Web",
  ]
}

variable "region" {
  description = "Region of everything, such as eastus. It has to offer Flex Consumption: az functionapp list-flexconsumption-locations."
  type        = string
  default     = "eastus"
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
  description = "The functions by name: the zip made by `npx serverless package`, and limits. Memory in MB (512, 2048, 4096), concurrency in requests an instance. Fewer than 40 instances are taken in some regions only. timeout_seconds is in the zip, and kept here to compare. One with a schedule (five fields of cron, UTC) is called by the platform's timer and by nobody else."
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
    records = { package = "../../.serverless/azure-records.zip", timeout_seconds = 60, concurrency = 32, instances_max = 40, memory_mb = 2048 }
    compare = { package = "../../.serverless/azure-compare.zip", timeout_seconds = 230, concurrency = 1, instances_max = 40, memory_mb = 2048 }
  }

  validation {
    condition     = alltrue([for function in values(var.functions) : function.timeout_seconds <= 230 || function.schedule != ""])
    error_message = "Azure ends every HTTP request after 230 seconds."
  }
}

variable "table" {
  description = "The physical table that holds the store's tables."
  type        = string
  default     = "stowage"
}

variable "replication" {
  description = "Replication of the data: LRS (one data centre), ZRS (a region's three), GRS, GZRS."
  type        = string
  default     = "LRS"
}

variable "environment" {
  description = "What all functions are told of the store beside where it is: variables that functions/README.md has."
  type        = map(string)
  default     = { STOWAGE_TIMEOUT_MS = "25000" }
}

variable "deployers" {
  description = "Who deploys, as object ids: may read and write the app keys. Empty: whoever applies. `npx serverless deploy` keeps those that were there."
  type        = list(string)
  default     = []
}

variable "keys" {
  description = "App keys of the roles read, write, admin and compare: one or several each, separated by commas, as functions/README.md has them. At least 16 characters. Written to Key Vault when keys_version changes, and kept neither in the plan nor in the state. Example: TF_VAR_keys='{\"read\":\"...\",\"write\":\"...\",\"admin\":\"...\",\"compare\":\"...\"}'"
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

variable "logs_gb_daily" {
  description = "The most that logs take a day, in GB; further ones are dropped until the next day."
  type        = number
  default     = 1
}

variable "alerts" {
  description = "E-mail alerts: of the requests of five minutes, if there are requests_min or more, more than error_percent % fail, are throttled or denied, or 1 % take longer than latency_ms; nothing is ready; what runs on a schedule fails. null: none."
  type        = object({ email = string, error_percent = number, latency_ms = number, requests_min = number })
  default     = null
}

variable "budget" {
  description = "Mails at 50, 90 and 100 % of a monthly amount in the subscription's currency, counted from the month in which it is made. Covers the functions, not the data. It stops nothing. null: none."
  type        = object({ email = string, amount = number })
  default     = null
}
