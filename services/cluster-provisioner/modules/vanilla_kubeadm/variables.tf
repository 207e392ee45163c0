# All of them are checked before they come here, and none has a default but what is left out on purpose.

variable "cluster_id" {
  description = "The cluster's id, in the tag kubeopera.io/cluster-id of everything."
  type        = string
}

variable "cluster_name" {
  description = "What people call the cluster."
  type        = string
}

variable "cloud_name" {
  description = "Name of the cluster in the cloud: what people call it, and the beginning of its id."
  type        = string
}

variable "region" {
  type = string
}

variable "kubernetes_version" {
  type = string
}

variable "node_count" {
  type = number
}

variable "instance_type" {
  type = string
}

variable "architecture" {
  description = "Instruction set of the instance type: amd64 or arm64."
  type        = string
}

variable "assume_role_arn" {
  description = "Role to assume; null for the credential itself."
  type        = string
  default     = null
}

variable "assume_role_external_id" {
  type      = string
  default   = null
  sensitive = true
}

variable "control_plane_count" {
  description = "1, 3, 5 or 7. It cannot be changed from 1 to more: the address of the API would be another one."
  type        = number
}
