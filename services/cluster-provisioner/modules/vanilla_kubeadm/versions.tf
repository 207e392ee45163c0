terraform {
  required_version = ">= 1.6"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100.0, < 7.0.0"
    }
  }
}

provider "aws" {
  region = var.region
  # New regions are not known to older providers.
  skip_region_validation = true
  # Throttled calls are tried again, each after twice the pause.
  max_retries = 25

  default_tags {
    tags = {
      "kubeopera.io/cluster-id"   = var.cluster_id
      "kubeopera.io/cluster-name" = var.cluster_name
    }
  }

  # The provider assumes the role itself, so that it can do so again when a session ends in the middle of a run.
  dynamic "assume_role" {
    for_each = var.assume_role_arn == null ? [] : [var.assume_role_arn]

    content {
      role_arn     = assume_role.value
      external_id  = var.assume_role_external_id
      session_name = "kubeopera-${var.cluster_id}"
      duration     = "1h"
    }
  }
}
