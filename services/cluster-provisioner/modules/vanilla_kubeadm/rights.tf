# What the machines may do in the account.

locals {
  arn_of_parameters = "arn:${data.aws_partition.here.partition}:ssm:${var.region}:${data.aws_caller_identity.us.account_id}:parameter${local.parameters}"

  # Session Manager is the way in when something has to be looked at: it needs no open port and no key. AWS's own policy
  # for it (AmazonSSMManagedInstanceCore) would let every machine read every parameter of the account.
  session_manager = {
    actions = [
      "ssm:UpdateInstanceInformation",
      "ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel",
      "ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
      "ec2messages:AcknowledgeMessage", "ec2messages:DeleteMessage", "ec2messages:FailMessage",
      "ec2messages:GetEndpoint", "ec2messages:GetMessages", "ec2messages:SendReply",
    ]
    resources = ["*"]
  }

  statements = {
    control-plane = [
      local.session_manager,
      {
        actions   = ["ssm:GetParameter", "ssm:PutParameter"]
        resources = ["${local.arn_of_parameters}/*"]
      },
      # The cloud controller: nodes, load balancers and the rules of the network for them.
      {
        actions = [
          "autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeLaunchConfigurations", "autoscaling:DescribeTags",
          "ec2:AuthorizeSecurityGroupIngress", "ec2:CreateSecurityGroup", "ec2:CreateTags", "ec2:DeleteSecurityGroup",
          "ec2:DescribeAvailabilityZones", "ec2:DescribeInstances", "ec2:DescribeInstanceTopology", "ec2:DescribeRegions",
          "ec2:DescribeRouteTables", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVolumes",
          "ec2:DescribeVpcs", "ec2:ModifyInstanceAttribute", "ec2:RevokeSecurityGroupIngress",
          "elasticloadbalancing:AddTags", "elasticloadbalancing:AttachLoadBalancerToSubnets",
          "elasticloadbalancing:ApplySecurityGroupsToLoadBalancer", "elasticloadbalancing:ConfigureHealthCheck",
          "elasticloadbalancing:CreateListener", "elasticloadbalancing:CreateLoadBalancer",
          "elasticloadbalancing:CreateLoadBalancerListeners", "elasticloadbalancing:CreateLoadBalancerPolicy",
          "elasticloadbalancing:CreateTargetGroup", "elasticloadbalancing:DeleteListener",
          "elasticloadbalancing:DeleteLoadBalancer", "elasticloadbalancing:DeleteLoadBalancerListeners",
          "elasticloadbalancing:DeleteTargetGroup", "elasticloadbalancing:DeregisterInstancesFromLoadBalancer",
          "elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:Describe*",
          "elasticloadbalancing:DetachLoadBalancerFromSubnets", "elasticloadbalancing:ModifyListener",
          "elasticloadbalancing:ModifyLoadBalancerAttributes", "elasticloadbalancing:ModifyTargetGroup",
          "elasticloadbalancing:RegisterInstancesWithLoadBalancer", "elasticloadbalancing:RegisterTargets",
          "elasticloadbalancing:SetLoadBalancerPoliciesForBackendServer", "elasticloadbalancing:SetLoadBalancerPoliciesOfListener",
        ]
        resources = ["*"]
      },
    ]
    worker = [
      local.session_manager,
      {
        actions   = ["ssm:GetParameter"]
        resources = ["${local.arn_of_parameters}/join/worker"]
      },
      {
        actions = [
          "ec2:DescribeInstances", "ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability",
          "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage",
        ]
        resources = ["*"]
      },
    ]
  }
}

data "aws_iam_policy_document" "assumed_by_machines" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "node" {
  for_each = local.statements

  dynamic "statement" {
    for_each = each.value

    content {
      actions   = statement.value.actions
      resources = statement.value.resources
    }
  }
}

resource "aws_iam_role" "node" {
  for_each           = local.statements
  name               = "${var.cloud_name}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.assumed_by_machines.json
}

resource "aws_iam_role_policy" "node" {
  for_each = local.statements
  name     = "kubeopera"
  role     = aws_iam_role.node[each.key].id
  policy   = data.aws_iam_policy_document.node[each.key].json
}

resource "aws_iam_instance_profile" "node" {
  for_each = local.statements
  name     = "${var.cloud_name}-${each.key}"
  role     = aws_iam_role.node[each.key].name
}
