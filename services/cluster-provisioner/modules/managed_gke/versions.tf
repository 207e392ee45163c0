terraform {
  required_version = ">= 1.6"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.50.0, < 8.0.0"
    }
  }
}

provider "google" {
  project = var.project
  region  = var.region

  default_labels = {
    kubeopera-cluster-id = var.cluster_id
  }
}
