# ../variables.tf describes each variable.

variable "name" { type = string }
variable "suffix" { type = string }
variable "tags" { type = map(string) }
variable "region" { type = string }
variable "data_group" { type = string }
variable "data_endpoint" { type = string }
variable "table" { type = string }

variable "functions" {
  type = map(object({
    package         = string
    timeout_seconds = number
    concurrency     = number
    instances_min   = number
    instances_max   = number
    memory_mb       = number
    schedule        = string
  }))
}

variable "timeout_ms" { type = number }
variable "container_bytes_max" { type = number }
variable "transport" { type = string }
variable "cors_origins" { type = list(string) }
variable "otlp_endpoint" { type = string }
variable "deployers" { type = list(string) }

variable "keys" {
  type      = map(string)
  ephemeral = true
  sensitive = true
}

variable "keys_version" { type = number }
variable "alerts" { type = object({ email = string, error_percent = number, latency_ms = number }) }
variable "budget" { type = object({ email = string, amount = number }) }
