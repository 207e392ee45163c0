# A VPC with a public and a private subnet in up to three availability zones. Nodes are in the private ones and reach the
# internet by one NAT gateway.

variable "name" {
  description = "Name of the cluster in the cloud, in front of the name of each part."
  type        = string
}

variable "instance_types" {
  description = "Types of the instances that are put into the network: only zones that offer all of them are used."
  type        = set(string)
}

variable "excluded_zone_ids" {
  description = "Ids of zones that cannot be used."
  type        = list(string)
  default     = []
}

locals {
  zones = slice(local.usable_zones, 0, min(3, length(local.usable_zones)))
  usable_zones = sort(setintersection(
    data.aws_availability_zones.all.names,
    [for offered in data.aws_ec2_instance_type_offerings.zones : offered.locations]...
  ))
  # Load balancers of Services find their subnets by these, and the cloud controller finds the cluster's parts by the first.
  cluster_tag = { "kubernetes.io/cluster/${var.name}" = "owned" }
}

data "aws_availability_zones" "all" {
  state            = "available"
  exclude_zone_ids = var.excluded_zone_ids

  # No local zones, which offer a few instance types only.
  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

data "aws_ec2_instance_type_offerings" "zones" {
  for_each      = var.instance_types
  location_type = "availability-zone"

  filter {
    name   = "instance-type"
    values = [each.value]
  }
}

resource "aws_vpc" "this" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
  enable_dns_support   = true
  tags                 = merge(local.cluster_tag, { Name = var.name })

  lifecycle {
    precondition {
      condition     = length(local.zones) > 0
      error_message = "No availability zone of the region offers the instance type. Choose another type or another region."
    }
  }
}

# Nothing uses the group that comes with each VPC, so it lets nothing through.
resource "aws_default_security_group" "unused" {
  vpc_id = aws_vpc.this.id
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = var.name }
}

resource "aws_subnet" "public" {
  count             = length(local.zones)
  vpc_id            = aws_vpc.this.id
  availability_zone = local.zones[count.index]
  cidr_block        = cidrsubnet(aws_vpc.this.cidr_block, 4, count.index)
  tags = merge(local.cluster_tag, {
    Name                     = "${var.name}-public-${local.zones[count.index]}"
    "kubernetes.io/role/elb" = "1"
  })
}

resource "aws_subnet" "private" {
  count             = length(local.zones)
  vpc_id            = aws_vpc.this.id
  availability_zone = local.zones[count.index]
  cidr_block        = cidrsubnet(aws_vpc.this.cidr_block, 4, 8 + count.index)
  tags = merge(local.cluster_tag, {
    Name                              = "${var.name}-private-${local.zones[count.index]}"
    "kubernetes.io/role/internal-elb" = "1"
  })
}

resource "aws_eip" "nat" {
  domain     = "vpc"
  tags       = { Name = "${var.name}-nat" }
  depends_on = [aws_internet_gateway.this]
}

resource "aws_nat_gateway" "this" {
  allocation_id = aws_eip.nat.id
  subnet_id     = aws_subnet.public[0].id
  tags          = { Name = var.name }
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-public" }
}

resource "aws_route" "internet" {
  route_table_id         = aws_route_table.public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route_table_association" "public" {
  count          = length(local.zones)
  route_table_id = aws_route_table.public.id
  subnet_id      = aws_subnet.public[count.index].id
}

resource "aws_route_table" "private" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-private" }
}

resource "aws_route" "nat" {
  route_table_id         = aws_route_table.private.id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this.id
}

resource "aws_route_table_association" "private" {
  count          = length(local.zones)
  route_table_id = aws_route_table.private.id
  subnet_id      = aws_subnet.private[count.index].id
}

# Images and packages come from S3 by this way for nothing, and not by the NAT gateway for money.
resource "aws_vpc_endpoint" "s3" {
  vpc_id          = aws_vpc.this.id
  service_name    = "com.amazonaws.${data.aws_region.here.name}.s3"
  route_table_ids = [aws_route_table.public.id, aws_route_table.private.id]
  tags            = { Name = "${var.name}-s3" }
}

data "aws_region" "here" {}

output "vpc" {
  value = { id = aws_vpc.this.id, cidr = aws_vpc.this.cidr_block }
}

# Whoever takes a subnet from here has its way out of the network as well, and on the way back goes before it.
output "public_subnets" {
  value      = aws_subnet.public[*].id
  depends_on = [aws_route.internet, aws_route_table_association.public]
}

output "public_cidrs" {
  value = aws_subnet.public[*].cidr_block
}

output "private_subnets" {
  value      = aws_subnet.private[*].id
  depends_on = [aws_route.nat, aws_route_table_association.private]
}
