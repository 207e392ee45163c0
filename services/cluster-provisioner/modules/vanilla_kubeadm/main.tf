# Kubernetes on EC2 instances, made by kubeadm: control-plane nodes with stacked etcd, and an Auto Scaling Group of workers.
# Machines learn all they need from their user data and from each other by way of SSM Parameter Store; nobody logs in to them.

locals {
  has_load_balancer = var.control_plane_count > 1
  # Pods and Services, apart from the VPC's 10.0.0.0/16.
  pod_cidr     = "10.244.0.0/16"
  service_cidr = "10.96.0.0/16"
  parameters   = "/kubeopera/${var.cluster_id}"
  # Of a control-plane node that is alone: in a subnet without workers, so that nobody else takes it.
  only_address = cidrhost(module.network.public_cidrs[0], 10)
  # Where nodes find the API, and where it is found from outside.
  endpoint = local.has_load_balancer ? aws_lb.api[0].dns_name : local.only_address
  public   = local.has_load_balancer ? aws_lb.api[0].dns_name : aws_eip.api[0].public_ip
}

module "network" {
  source         = "../aws-network"
  name           = var.cloud_name
  instance_types = [var.instance_type]
}

data "aws_region" "here" {}

data "aws_partition" "here" {}

data "aws_caller_identity" "us" {}

# Amazon Linux, whose packages have containerd and whose image has AWS's command line and the agent of Session Manager.
data "aws_ssm_parameter" "image" {
  name = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-${var.architecture == "arm64" ? "arm64" : "x86_64"}"
}

# --- The control plane

resource "aws_eip" "api" {
  count  = local.has_load_balancer ? 0 : 1
  domain = "vpc"
  tags   = { Name = "${var.cloud_name}-api" }
}

resource "aws_eip_association" "api" {
  count         = local.has_load_balancer ? 0 : 1
  allocation_id = aws_eip.api[0].id
  instance_id   = aws_instance.control_plane[0].id
}

resource "aws_instance" "control_plane" {
  count                = var.control_plane_count
  ami                  = data.aws_ssm_parameter.image.insecure_value
  instance_type        = var.instance_type
  iam_instance_profile = aws_iam_instance_profile.node["control-plane"].name
  subnet_id            = local.has_load_balancer ? element(module.network.private_subnets, count.index) : module.network.public_subnets[0]
  private_ip           = local.has_load_balancer ? null : local.only_address

  vpc_security_group_ids = [aws_security_group.node.id, aws_security_group.control_plane.id]

  user_data_base64 = base64gzip(templatefile("${path.module}/boot/cloud-config.tftpl", {
    files = local.boot_files
    settings = merge(local.settings, {
      ROLE  = "control-plane"
      INDEX = tostring(count.index)
    })
  }))

  # One hop, so that no pod borrows the rights of its node. The cloud controller is on the node's own network.
  metadata_options {
    http_tokens                 = "required"
    http_endpoint               = "enabled"
    http_put_response_hop_limit = 1
  }

  root_block_device {
    volume_type = "gp3"
    volume_size = 50
    encrypted   = true
    tags        = { Name = "${var.cloud_name}-control-plane-${count.index}" }
  }

  tags = {
    Name                                      = "${var.cloud_name}-control-plane-${count.index}"
    "kubernetes.io/cluster/${var.cloud_name}" = "owned"
  }

  # A newer image or script must not replace a member of etcd.
  lifecycle {
    ignore_changes = [ami, user_data_base64]
  }

  depends_on = [aws_ssm_parameter.told, aws_iam_role_policy.node, aws_lb_listener.api]
}

# --- The workers

resource "aws_launch_template" "worker" {
  name                   = "${var.cloud_name}-worker"
  image_id               = data.aws_ssm_parameter.image.insecure_value
  instance_type          = var.instance_type
  update_default_version = true
  vpc_security_group_ids = [aws_security_group.node.id]
  # It says where the token to join with is, and not the token, which ends.
  user_data = base64gzip(templatefile("${path.module}/boot/cloud-config.tftpl", {
    files    = local.boot_files
    settings = merge(local.settings, { ROLE = "worker", INDEX = "0" })
  }))

  iam_instance_profile {
    arn = aws_iam_instance_profile.node["worker"].arn
  }

  # One hop, so that no pod borrows the rights of its node.
  metadata_options {
    http_tokens                 = "required"
    http_endpoint               = "enabled"
    http_put_response_hop_limit = 1
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
    resource_type = "volume"
    tags          = { Name = "${var.cloud_name}-worker", "kubeopera.io/cluster-id" = var.cluster_id }
  }
}

resource "aws_autoscaling_group" "workers" {
  name                = "${var.cloud_name}-workers"
  min_size            = var.node_count
  desired_capacity    = var.node_count
  max_size            = var.node_count
  vpc_zone_identifier = module.network.private_subnets
  health_check_type   = "EC2"
  # Whether nodes come up is seen on the cluster. To wait here would keep the group out of Terraform's state meanwhile.
  wait_for_capacity_timeout = "0"

  launch_template {
    id      = aws_launch_template.worker.id
    version = aws_launch_template.worker.latest_version
  }

  # The tags that all resources get do not reach what a group makes.
  dynamic "tag" {
    for_each = {
      Name                                      = "${var.cloud_name}-worker"
      "kubernetes.io/cluster/${var.cloud_name}" = "owned"
      "kubeopera.io/cluster-id"                 = var.cluster_id
    }

    content {
      key                 = tag.key
      value               = tag.value
      propagate_at_launch = true
    }
  }

  # Somebody may have scaled it since.
  lifecycle {
    ignore_changes = [min_size, desired_capacity, max_size]
  }

  depends_on = [aws_ssm_parameter.told, aws_iam_role_policy.node]
}

# --- What machines tell each other and KubeOpera. The parameters are made here and so deleted with the cluster; what is in
# them the machines write.

resource "aws_ssm_parameter" "told" {
  for_each = merge(
    { "kubeconfig" = "SecureString", "join/control-plane" = "SecureString", "join/worker" = "SecureString" },
    { for index in range(var.control_plane_count) : "status/control-plane-${index}" => "String" },
  )
  name  = "${local.parameters}/${each.key}"
  type  = each.value
  tier  = "Intelligent-Tiering"
  value = "not yet"

  lifecycle {
    ignore_changes = [value, insecure_value, tier]
  }
}

# --- What the machines start with

locals {
  settings = {
    CLUSTER_ID          = var.cluster_id
    CLUSTER_NAME        = var.cloud_name
    CONTROL_PLANE_COUNT = tostring(var.control_plane_count)
    KUBERNETES_VERSION  = var.kubernetes_version
    API_ENDPOINT        = local.endpoint
    API_PUBLIC          = local.public
    POD_CIDR            = local.pod_cidr
    SERVICE_CIDR        = local.service_cidr
    PARAMETERS          = local.parameters
    AWS_DEFAULT_REGION  = var.region
  }
  boot_files = {
    "/usr/local/bin/kubeopera-node"                = { mode = "0755", text = file("${path.module}/boot/node.sh") }
    "/etc/systemd/system/kubeopera-node.service"   = { mode = "0644", text = file("${path.module}/boot/node.service") }
    "/etc/systemd/system/kubeopera-tokens.service" = { mode = "0644", text = file("${path.module}/boot/tokens.service") }
    "/etc/systemd/system/kubeopera-tokens.timer"   = { mode = "0644", text = file("${path.module}/boot/tokens.timer") }
    "/etc/kubeopera/addons.yaml"                   = { mode = "0644", text = file("${path.module}/boot/addons.yaml") }
  }
}

# --- What cluster-provisioner makes a kubeconfig of

output "kubeconfig" {
  description = "As kubeadm made it; not yet before the control plane has booted."
  value       = aws_ssm_parameter.told["kubeconfig"].value
  sensitive   = true
}

output "status" {
  description = "What each control-plane node is at."
  value       = [for index in range(var.control_plane_count) : aws_ssm_parameter.told["status/control-plane-${index}"].value]
  sensitive   = true
}
