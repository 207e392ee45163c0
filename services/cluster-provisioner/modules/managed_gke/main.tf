# A GKE control plane in a region with a node pool, in a network of its own.

locals {
  # A node pool has a number of nodes for each zone. With fewer nodes than zones it is in as many zones as it has nodes.
  zones = slice(sort(data.google_compute_zones.here.names), 0, min(3, var.node_count, length(data.google_compute_zones.here.names)))
}

data "google_compute_zones" "here" {
  region = var.region
  status = "UP"
}

resource "google_compute_network" "this" {
  name                    = var.cloud_name
  auto_create_subnetworks = false

  # GKE removes its firewall rules some time after the cluster is gone.
  timeouts {
    delete = "20m"
  }
}

resource "google_compute_subnetwork" "nodes" {
  name                     = var.cloud_name
  region                   = var.region
  network                  = google_compute_network.this.id
  ip_cidr_range            = "10.0.0.0/20"
  private_ip_google_access = true

  secondary_ip_range {
    range_name    = "pods"
    ip_cidr_range = "10.4.0.0/14"
  }

  secondary_ip_range {
    range_name    = "services"
    ip_cidr_range = "10.8.0.0/20"
  }

  timeouts {
    delete = "20m"
  }
}

# Nodes have no addresses of their own and reach the internet by this.
resource "google_compute_router" "this" {
  name    = var.cloud_name
  region  = var.region
  network = google_compute_network.this.id
}

resource "google_compute_router_nat" "this" {
  name                               = var.cloud_name
  region                             = var.region
  router                             = google_compute_router.this.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"
}

resource "google_service_account" "node" {
  account_id   = "${var.short_name}-node"
  display_name = "Nodes of ${var.cluster_name}"
}

resource "google_project_iam_member" "node" {
  for_each = toset(["roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader"])
  project  = var.project
  role     = each.value
  member   = "serviceAccount:${google_service_account.node.email}"
}

resource "google_container_cluster" "this" {
  name               = var.cloud_name
  location           = var.region
  network            = google_compute_network.this.id
  subnetwork         = google_compute_subnetwork.nodes.id
  min_master_version = var.kubernetes_version
  networking_mode    = "VPC_NATIVE"
  datapath_provider  = "ADVANCED_DATAPATH"

  # Google's default would keep KubeOpera from deleting it, after it has deleted the nodes.
  deletion_protection = false

  # Every cluster begins with a node pool. This one goes at once, and is as small as it can be: three zones of its usual
  # size are beyond the quota for disks of a new project.
  remove_default_node_pool = true
  initial_node_count       = 1
  node_locations           = local.zones

  node_config {
    machine_type    = "e2-medium"
    disk_type       = "pd-standard"
    disk_size_gb    = 20
    service_account = google_service_account.node.email
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
  }

  release_channel {
    channel = "REGULAR"
  }

  ip_allocation_policy {
    cluster_secondary_range_name  = "pods"
    services_secondary_range_name = "services"
  }

  private_cluster_config {
    enable_private_nodes    = true
    enable_private_endpoint = false
  }

  workload_identity_config {
    workload_pool = "${var.project}.svc.id.goog"
  }

  master_auth {
    client_certificate_config {
      issue_client_certificate = false
    }
  }

  # GKE upgrades itself, and the first node pool is gone.
  lifecycle {
    ignore_changes = [min_master_version, node_config, initial_node_count]
  }

  timeouts {
    create = "45m"
    update = "45m"
    delete = "45m"
  }

  depends_on = [google_project_iam_member.node, google_compute_router_nat.this]
}

resource "google_container_node_pool" "nodes" {
  name           = "nodes"
  cluster        = google_container_cluster.this.id
  location       = var.region
  node_locations = local.zones

  # The one way to say a number of nodes for all zones together.
  autoscaling {
    total_min_node_count = var.node_count
    total_max_node_count = var.node_count
    location_policy      = "BALANCED"
  }

  node_config {
    machine_type    = var.instance_type
    disk_type       = var.boot_disk
    disk_size_gb    = 50
    service_account = google_service_account.node.email
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    metadata        = { disable-legacy-endpoints = "true" }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }
  }

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  # Somebody may have scaled it since.
  lifecycle {
    ignore_changes = [autoscaling, initial_node_count]
  }

  timeouts {
    create = "45m"
    update = "45m"
    delete = "45m"
  }
}

# --- What cluster-provisioner makes a kubeconfig of

output "endpoint" {
  value = "https://${google_container_cluster.this.endpoint}"
}

output "certificate_authority" {
  description = "PEM in base64."
  value       = google_container_cluster.this.master_auth[0].cluster_ca_certificate
}

# What the service account is known by, for an hour.
data "google_client_config" "us" {}

output "token" {
  value     = data.google_client_config.us.access_token
  sensitive = true
}

# The nodes belong to a finished cluster.
output "ready" {
  value      = true
  depends_on = [google_container_node_pool.nodes]
}
