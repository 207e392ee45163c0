# An EKS control plane with a managed node group.

locals {
  # Zones in which EKS has no room for control planes.
  excluded_zone_ids = ["use1-az3", "usw1-az2", "cac1-az3"]
  policy            = "arn:${data.aws_partition.here.partition}:iam::aws:policy"
  image             = { amd64 = "AL2023_x86_64_STANDARD", arm64 = "AL2023_ARM_64_STANDARD" }[var.architecture]
}

data "aws_partition" "here" {}

data "aws_caller_identity" "us" {}

# Whoever creates the cluster: of an assumed role the role, not its session.
data "aws_iam_session_context" "us" {
  arn = data.aws_caller_identity.us.arn
}

module "network" {
  source            = "../aws-network"
  name              = var.cloud_name
  instance_types    = [var.instance_type]
  excluded_zone_ids = local.excluded_zone_ids
}

# --- The control plane

resource "aws_iam_role" "control_plane" {
  name               = "${var.cloud_name}-eks"
  assume_role_policy = data.aws_iam_policy_document.assumed_by["eks.amazonaws.com"].json
}

resource "aws_iam_role_policy_attachment" "control_plane" {
  role       = aws_iam_role.control_plane.name
  policy_arn = "${local.policy}/AmazonEKSClusterPolicy"
}

# Made before the cluster, as EKS would make one that nobody deletes.
resource "aws_cloudwatch_log_group" "control_plane" {
  name              = "/aws/eks/${var.cloud_name}/cluster"
  retention_in_days = 30
}

resource "aws_eks_cluster" "this" {
  name                          = var.cloud_name
  version                       = var.kubernetes_version
  role_arn                      = aws_iam_role.control_plane.arn
  enabled_cluster_log_types     = ["api", "audit", "authenticator"]
  bootstrap_self_managed_addons = false

  access_config {
    authentication_mode                         = "API"
    bootstrap_cluster_creator_admin_permissions = false
  }

  vpc_config {
    subnet_ids              = concat(module.network.public_subnets, module.network.private_subnets)
    endpoint_public_access  = true
    endpoint_private_access = true
  }

  # With less, a slow creation ends the run and leaves a cluster in the making, which the next run collides with.
  timeouts {
    create = "60m"
    delete = "30m"
  }

  depends_on = [aws_iam_role_policy_attachment.control_plane, aws_cloudwatch_log_group.control_plane]
}

resource "aws_eks_access_entry" "us" {
  cluster_name  = aws_eks_cluster.this.name
  principal_arn = data.aws_iam_session_context.us.issuer_arn
}

resource "aws_eks_access_policy_association" "us" {
  cluster_name  = aws_eks_cluster.this.name
  principal_arn = aws_eks_access_entry.us.principal_arn
  policy_arn    = "arn:${data.aws_partition.here.partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"

  access_scope {
    type = "cluster"
  }
}

# --- The nodes

resource "aws_iam_role" "node" {
  name               = "${var.cloud_name}-node"
  assume_role_policy = data.aws_iam_policy_document.assumed_by["ec2.amazonaws.com"].json
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each   = toset(["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy"])
  role       = aws_iam_role.node.name
  policy_arn = "${local.policy}/${each.value}"
}

resource "aws_launch_template" "node" {
  name                   = "${var.cloud_name}-node"
  update_default_version = true

  # Of two hops the pods of add-ons need one.
  metadata_options {
    http_tokens                 = "required"
    http_endpoint               = "enabled"
    http_put_response_hop_limit = 2
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      volume_type           = "gp3"
      volume_size           = 50
      encrypted             = true
      delete_on_termination = true
    }
  }

  tag_specifications {
    resource_type = "instance"
    tags          = { Name = "${var.cloud_name}-node", "kubeopera.io/cluster-id" = var.cluster_id }
  }

  tag_specifications {
    resource_type = "volume"
    tags          = { Name = "${var.cloud_name}-node", "kubeopera.io/cluster-id" = var.cluster_id }
  }
}

resource "aws_eks_node_group" "nodes" {
  cluster_name    = aws_eks_cluster.this.name
  node_group_name = "nodes"
  node_role_arn   = aws_iam_role.node.arn
  subnet_ids      = module.network.private_subnets
  version         = aws_eks_cluster.this.version
  ami_type        = local.image
  instance_types  = [var.instance_type]

  scaling_config {
    min_size     = var.node_count
    desired_size = var.node_count
    max_size     = var.node_count
  }

  update_config {
    max_unavailable = 1
  }

  launch_template {
    id      = aws_launch_template.node.id
    version = aws_launch_template.node.latest_version
  }

  # Somebody may have scaled it since.
  lifecycle {
    ignore_changes = [scaling_config]
  }

  timeouts {
    create = "30m"
    delete = "30m"
  }

  depends_on = [aws_iam_role_policy_attachment.node, aws_eks_addon.before_nodes]
}

# --- Add-ons: without the first ones no node becomes Ready, and the others need a node to run on.

resource "aws_eks_addon" "before_nodes" {
  for_each                    = toset(["vpc-cni", "kube-proxy", "eks-pod-identity-agent"])
  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = each.value
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"
}

resource "aws_eks_addon" "coredns" {
  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = "coredns"
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"
  depends_on                  = [aws_eks_node_group.nodes]
}

resource "aws_eks_addon" "volumes" {
  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = "aws-ebs-csi-driver"
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"
  depends_on                  = [aws_eks_node_group.nodes, aws_eks_pod_identity_association.volumes]
}

# What the driver of volumes acts as.
resource "aws_eks_pod_identity_association" "volumes" {
  cluster_name    = aws_eks_cluster.this.name
  namespace       = "kube-system"
  service_account = "ebs-csi-controller-sa"
  role_arn        = aws_iam_role.volumes.arn
}

resource "aws_iam_role" "volumes" {
  name               = "${var.cloud_name}-volumes"
  assume_role_policy = data.aws_iam_policy_document.assumed_by["pods.eks.amazonaws.com"].json
}

resource "aws_iam_role_policy_attachment" "volumes" {
  role       = aws_iam_role.volumes.name
  policy_arn = "${local.policy}/service-role/AmazonEBSCSIDriverPolicy"
}

data "aws_iam_policy_document" "assumed_by" {
  for_each = {
    "eks.amazonaws.com"      = ["sts:AssumeRole"]
    "ec2.amazonaws.com"      = ["sts:AssumeRole"]
    "pods.eks.amazonaws.com" = ["sts:AssumeRole", "sts:TagSession"]
  }

  statement {
    actions = each.value

    principals {
      type        = "Service"
      identifiers = [each.key]
    }
  }
}

# --- What cluster-provisioner makes a kubeconfig of

output "endpoint" {
  value = aws_eks_cluster.this.endpoint
}

output "certificate_authority" {
  description = "PEM in base64."
  value       = aws_eks_cluster.this.certificate_authority[0].data
}

# What whoever creates the cluster is known by to its API server, for a quarter of an hour.
data "aws_eks_cluster_auth" "us" {
  name = aws_eks_cluster.this.name
}

output "token" {
  value     = data.aws_eks_cluster_auth.us.token
  sensitive = true
}

# The nodes and the right to use the API belong to a finished cluster.
output "ready" {
  value      = true
  depends_on = [aws_eks_node_group.nodes, aws_eks_access_policy_association.us, aws_eks_addon.coredns, aws_eks_addon.volumes]
}
