# ../variables.tf describes each variable.

variable "name" { type = string }
variable "suffix" { type = string }
variable "tags" { type = map(string) }
variable "region" { type = string }
variable "data_group" { type = string }
variable "data_endpoint" { type = string }
variable "table" { type = string }
variable "functions" { type = any }
variable "environment" { type = map(string) }
variable "deployers" { type = list(string) }

variable "keys" {
  type      = map(string)
  ephemeral = true
  sensitive = true
}

variable "logs_gb_daily" { type = number }
variable "keys_version" { type = number }
variable "alerts" { type = object({ email = string, error_percent = number, latency_ms = number, requests_min = number }) }
variable "budget" { type = object({ email = string, amount = number }) }
