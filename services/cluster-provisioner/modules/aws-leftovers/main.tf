# What in the account carries the tags of a cluster: its own, and the one by which Kubernetes marks what it makes there,
# such as load balancers and disks. Makes nothing.

terraform {
  required_version = ">= 1.6"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100.0, < 7.0.0"
    }
  }
}

variable "cluster_id" {
  type = string
}

variable "cloud_name" {
  type = string
}

variable "region" {
  type = string
}

variable "assume_role_arn" {
  type    = string
  default = null
}

variable "assume_role_external_id" {
  type      = string
  default   = null
  sensitive = true
}

provider "aws" {
  region                 = var.region
  skip_region_validation = true
  max_retries            = 25

  dynamic "assume_role" {
    for_each = var.assume_role_arn == null ? [] : [var.assume_role_arn]

    content {
      role_arn     = assume_role.value
      external_id  = var.assume_role_external_id
      session_name = "kubeopera"
    }
  }
}

data "aws_resourcegroupstaggingapi_resources" "ours" {
  tag_filter {
    key    = "kubeopera.io/cluster-id"
    values = [var.cluster_id]
  }
}

data "aws_resourcegroupstaggingapi_resources" "of_kubernetes" {
  tag_filter {
    key    = "kubernetes.io/cluster/${var.cloud_name}"
    values = ["owned"]
  }
}

# Instances are listed for an hour after their end, which costs nothing.
data "aws_instances" "ours" {
  instance_tags        = { "kubeopera.io/cluster-id" = var.cluster_id }
  instance_state_names = ["pending", "running", "stopping", "stopped"]
}

data "aws_instances" "of_kubernetes" {
  instance_tags        = { "kubernetes.io/cluster/${var.cloud_name}" = "owned" }
  instance_state_names = ["pending", "running", "stopping", "stopped"]
}

locals {
  listed = distinct(concat(
    [for one in data.aws_resourcegroupstaggingapi_resources.ours.resource_tag_mapping_list : one.resource_arn],
    [for one in data.aws_resourcegroupstaggingapi_resources.of_kubernetes.resource_tag_mapping_list : one.resource_arn],
  ))
  instances = concat(data.aws_instances.ours.ids, data.aws_instances.of_kubernetes.ids)
}

output "arns" {
  value = [for arn in local.listed : arn if !strcontains(arn, ":instance/") || contains(local.instances, basename(arn))]
}
