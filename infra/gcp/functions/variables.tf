# ../variables.tf describes each variable.

variable "name" { type = string }
variable "labels" { type = map(string) }
variable "project" { type = string }
variable "region" { type = string }
variable "database" { type = string }
variable "namespace" { type = string }
variable "functions" { type = any }
variable "environment" { type = map(string) }
variable "deployers" { type = list(string) }
variable "invokers" { type = list(string) }

variable "keys" {
  type      = map(string)
  ephemeral = true
  sensitive = true
}

variable "keys_version" { type = number }
variable "alerts" { type = object({ email = string, error_percent = number, latency_ms = number, requests_min = number }) }
variable "budget" { type = object({ billing_account = string, amount = number }) }
