# All of them are checked before they come here, and none has a default.

variable "cluster_id" {
  description = "The cluster's id, in the label kubeopera-cluster-id of everything that takes labels."
  type        = string
}

variable "cluster_name" {
  description = "What people call the cluster."
  type        = string
}

variable "cloud_name" {
  description = "Name of the cluster in the cloud: what people call it, and the beginning of its id. At most 40 characters."
  type        = string
}

variable "short_name" {
  description = "The same for what takes fewer characters: ko and the beginning of the id."
  type        = string
}

variable "project" {
  description = "Project of the service account."
  type        = string
}

variable "region" {
  type = string
}

variable "kubernetes_version" {
  description = "A minor version, of which GKE takes its newest."
  type        = string
}

variable "node_count" {
  type = number
}

variable "instance_type" {
  type = string
}

variable "boot_disk" {
  description = "Kind of disk that the instance type boots from."
  type        = string
}
