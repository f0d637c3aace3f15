variable "project" {
  description = "Id of the Google Cloud project that is deployed to."
  type        = string
}

variable "service" {
  description = "First part of the names, as in serverless.yml."
  type        = string
  default     = "stowage"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,10}$", var.service))
    error_message = "2 to 11 lower-case letters, digits and hyphens, beginning with a letter."
  }
}

variable "repository_id" {
  description = "Number of the GitHub repository: gh api repos/OWNER/NAME --jq .id"
  type        = string

  validation {
    condition     = can(regex("^[0-9]+$", var.repository_id))
    error_message = "The repository's number, not its name: gh api repos/OWNER/NAME --jq .id"
  }
}

variable "environments" {
  description = "The repository's environments whose jobs may deploy; the workflows take the stage's name."
  type        = list(string)
  default     = ["dev", "prod"]

  validation {
    condition     = alltrue([for name in var.environments : can(regex("^[a-z][a-z0-9]{0,9}$", name))]) && length(var.environments) > 0
    error_message = "One or more stages' names: 1 to 10 lower-case letters and digits each."
  }
}

variable "state_location" {
  description = "Location of the bucket that holds Terraform's state."
  type        = string
  default     = "US"
}
