# A Network Load Balancer in front of several API servers.

resource "aws_lb" "api" {
  count                            = local.has_load_balancer ? 1 : 0
  name                             = "ko-${substr(var.cluster_id, 0, 8)}-api"
  load_balancer_type               = "network"
  internal                         = false
  subnets                          = module.network.public_subnets
  security_groups                  = [aws_security_group.load_balancer[0].id]
  enable_cross_zone_load_balancing = true
}

resource "aws_lb_target_group" "api" {
  count       = local.has_load_balancer ? 1 : 0
  name        = "ko-${substr(var.cluster_id, 0, 8)}-api"
  port        = 6443
  protocol    = "TCP"
  vpc_id      = module.network.vpc.id
  target_type = "instance"
  # With clients' own addresses a node could not reach itself by way of the load balancer.
  preserve_client_ip   = "false"
  deregistration_delay = 30

  health_check {
    protocol            = "HTTPS"
    path                = "/readyz"
    port                = "6443"
    matcher             = "200"
    interval            = 10
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_listener" "api" {
  count             = local.has_load_balancer ? 1 : 0
  load_balancer_arn = aws_lb.api[0].arn
  port              = 6443
  protocol          = "TCP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.api[0].arn
  }
}

resource "aws_lb_target_group_attachment" "api" {
  count            = local.has_load_balancer ? var.control_plane_count : 0
  target_group_arn = aws_lb_target_group.api[0].arn
  target_id        = aws_instance.control_plane[count.index].id
  port             = 6443
}
