variable "subscription_id" {
  description = "Id of the Azure subscription that the stage is deployed to."
  type        = string
}

variable "region" {
  description = "Region of the stage, such as eastus."
  type        = string
  default     = "eastus"
}

variable "service" {
  description = "First part of the names of everything, as the stage has it."
  type        = string
  default     = "stowage"
}

variable "stage" {
  description = "The stage whose data account the parts write to: dev, prod, ..."
  type        = string
  default     = "dev"
}

variable "table" {
  description = "The physical table that holds the stage's tables."
  type        = string
  default     = "stowage"
}

variable "image" {
  description = "The image of the part, built from .build/azure-part, which `node infra/package/jobs.ts` makes: REGISTRY/NAME:TAG."
  type        = string
}

variable "registry_id" {
  description = "Resource id of the Azure container registry that the image is in; the job gets the right to pull. Empty: the image is public."
  type        = string
  default     = ""
}

variable "timeout_seconds" {
  description = "The longest that a comparison takes, waiting for its start included."
  type        = number
  default     = 14400
}
