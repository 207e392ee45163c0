# Who may talk to whom. There is no rule for SSH.

# All machines. Only this group has the cluster's tag, by which the cloud controller finds the one it opens for Services.
resource "aws_security_group" "node" {
  name        = "${var.cloud_name}-node"
  description = "All machines of the cluster"
  vpc_id      = module.network.vpc.id
  tags = {
    Name                                      = "${var.cloud_name}-node"
    "kubernetes.io/cluster/${var.cloud_name}" = "owned"
  }
}

resource "aws_security_group" "control_plane" {
  name        = "${var.cloud_name}-control-plane"
  description = "Control-plane nodes"
  vpc_id      = module.network.vpc.id
  tags        = { Name = "${var.cloud_name}-control-plane" }
}

resource "aws_security_group" "load_balancer" {
  count       = local.has_load_balancer ? 1 : 0
  name        = "${var.cloud_name}-api"
  description = "Load balancer of the API servers"
  vpc_id      = module.network.vpc.id
  tags        = { Name = "${var.cloud_name}-api" }
}

locals {
  within = {
    kubelet      = { to = aws_security_group.node.id, from = aws_security_group.node.id, protocol = "tcp", ports = [10250, 10250] }
    pods         = { to = aws_security_group.node.id, from = aws_security_group.node.id, protocol = "udp", ports = [8472, 8472] }
    node-ports   = { to = aws_security_group.node.id, from = aws_security_group.node.id, protocol = "tcp", ports = [30000, 32767] }
    api-of-nodes = { to = aws_security_group.control_plane.id, from = aws_security_group.node.id, protocol = "tcp", ports = [6443, 6443] }
    etcd         = { to = aws_security_group.control_plane.id, from = aws_security_group.control_plane.id, protocol = "tcp", ports = [2379, 2380] }
  }
  behind_load_balancer = local.has_load_balancer ? {
    api-of-load-balancer = { to = aws_security_group.control_plane.id, from = aws_security_group.load_balancer[0].id, protocol = "tcp", ports = [6443, 6443] }
  } : {}
}

resource "aws_vpc_security_group_ingress_rule" "within" {
  for_each                     = merge(local.within, local.behind_load_balancer)
  description                  = each.key
  security_group_id            = each.value.to
  referenced_security_group_id = each.value.from
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.ports[0]
  to_port                      = each.value.ports[1]
}

# The API is reached from everywhere, as KubeOpera is anywhere; it lets in who has a credential.
resource "aws_vpc_security_group_ingress_rule" "api" {
  description       = "api"
  security_group_id = local.has_load_balancer ? aws_security_group.load_balancer[0].id : aws_security_group.control_plane.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = 6443
  to_port           = 6443
}

resource "aws_vpc_security_group_egress_rule" "node" {
  description       = "everything"
  security_group_id = aws_security_group.node.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

resource "aws_vpc_security_group_egress_rule" "load_balancer" {
  count                        = local.has_load_balancer ? 1 : 0
  description                  = "api"
  security_group_id            = aws_security_group.load_balancer[0].id
  referenced_security_group_id = aws_security_group.control_plane.id
  ip_protocol                  = "tcp"
  from_port                    = 6443
  to_port                      = 6443
}
