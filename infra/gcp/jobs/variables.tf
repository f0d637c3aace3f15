variable "project" {
  description = "Id of the Google Cloud project that the stage is deployed to."
  type        = string
}

variable "region" {
  description = "Region of the stage, such as us-east4."
  type        = string
  default     = "us-east4"
}

variable "service" {
  description = "First part of the names of everything, as the stage has it."
  type        = string
  default     = "stowage"
}

variable "stage" {
  description = "The stage whose database the parts write to: dev, prod, ..."
  type        = string
  default     = "dev"
}

variable "namespace" {
  description = "Datastore namespace of the stage's store. Empty: the default one."
  type        = string
  default     = ""
}

variable "image" {
  description = "The image of the part, built from .build/gcp-part, which `node infra/package/jobs.ts` makes."
  type        = string
}

variable "parts" {
  description = "How many machines drive a comparison, 1 to 64. Each takes one processor of Cloud Run's quota."
  type        = number
  default     = 4

  validation {
    condition     = var.parts >= 1 && var.parts <= 64 && floor(var.parts) == var.parts
    error_message = "A comparison has 1 to 64 parts."
  }
}

variable "memory_mb" {
  description = "Memory of each part, in MB."
  type        = number
  default     = 2048
}

variable "timeout_seconds" {
  description = "The longest that a comparison takes, waiting for its start included, at most 86,400."
  type        = number
  default     = 14400

  validation {
    condition     = var.timeout_seconds >= 60 && var.timeout_seconds <= 86400
    error_message = "60 to 86400 seconds."
  }
}
