variable "subscription_id" {
  description = "Id of the Azure subscription that is deployed to."
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

variable "repository" {
  description = "The GitHub repository as OWNER/NAME. Azure compares the name: whoever takes the name over after you deploys."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$", var.repository))
    error_message = "A repository looks like OWNER/NAME."
  }
}

variable "environments" {
  description = "The repository's environments whose jobs may deploy; the workflows take the stage's name."
  type        = list(string)
  default     = ["dev", "prod"]
}

variable "people" {
  description = "Who deploys from a machine of their own with the state there: object ids by any name."
  type        = map(string)
  default     = {}
}

variable "region" {
  description = "Region of the state's account, and of the stages."
  type        = string
  default     = "eastus"
}
