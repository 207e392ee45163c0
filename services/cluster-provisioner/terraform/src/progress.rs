//! How far a run is, in words.

use std::{collections::BTreeMap, time::Duration};

use crate::say::{Change, Said};

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To create a cluster.
    Create,
    /// To make it go away.
    Destroy,
}

/// How far a run is.
#[derive(Debug, Clone)]
pub struct Progress {
    purpose: Purpose,
    planned: usize,
    done: usize,
    /// By address: its type, and when it was begun.
    under_way: BTreeMap<String, (String, Duration)>,
    replaced: Option<String>,
}

impl Progress {
    /// At the beginning.
    pub const fn new(purpose: Purpose) -> Self {
        Self { purpose, planned: 0, done: 0, under_way: BTreeMap::new(), replaced: None }
    }

    /// Follows what Terraform says, `at` that time since its start.
    pub fn hear(&mut self, said: &Said, at: Duration) {
        match said {
            Said::Planned { kind, change, is_unfinished } => {
                // Replaced is what is deleted and made, in two works.
                self.planned += if *change == Change::Replace { 2 } else { 1 };
                let is_lost = matches!(change, Change::Delete | Change::Replace);
                let may_be_made_anew = *is_unfinished && !holds_the_cluster(kind);
                if self.purpose == Purpose::Create && is_lost && !may_be_made_anew {
                    self.replaced.get_or_insert_with(|| kind.clone());
                }
            }
            Said::Begun { address, kind } => {
                self.under_way.insert(address.clone(), (kind.clone(), at));
            }
            Said::Done { address } => {
                self.done += 1;
                self.under_way.remove(address);
            }
            Said::Failed { address } => {
                self.under_way.remove(address);
            }
            Said::Diagnostic(_) | Said::Else => {}
        }
    }

    /// Of a plan to create: the type of a resource that would be lost, though nobody asked for that.
    pub fn would_lose(&self) -> Option<&str> {
        self.replaced.as_deref()
    }

    /// How many resources there are to work on, and how many of them are done.
    pub const fn counts(&self) -> (usize, usize) {
        (self.done, self.planned)
    }

    /// What is being done, as a sentence, `at` that time since Terraform's start.
    pub fn sentence(&self, at: Duration) -> String {
        let verb = match self.purpose {
            Purpose::Create => "Creating",
            Purpose::Destroy => "Deleting",
        };
        // The one that takes longest is what people wait for.
        let longest = self.under_way.values().min_by_key(|(_, since)| *since);
        let what = longest.map_or("the infrastructure", |(kind, _)| words_of(kind));
        let minutes = at.as_secs() / 60;
        let time = if minutes == 0 { String::new() } else { format!(", {minutes} min") };
        format!("{verb} {what} ({} of {} resources done{time}).", self.done.min(self.planned), self.planned)
    }
}

/// Where what runs on the cluster would be lost, and not only time.
fn holds_the_cluster(kind: &str) -> bool {
    ["aws_eks_cluster", "google_container_cluster", "aws_instance"].contains(&kind)
}

/// A type of resource as people call it.
pub fn words_of(kind: &str) -> &'static str {
    match kind {
        "aws_eks_cluster" => "the EKS control plane",
        "aws_eks_node_group" | "google_container_node_pool" | "aws_autoscaling_group" => "the nodes",
        "aws_eks_addon" | "aws_eks_pod_identity_association" => "the add-ons of EKS",
        "aws_eks_access_entry" | "aws_eks_access_policy_association" => "the right to use the cluster",
        "aws_instance" => "the control plane",
        "aws_lb" | "aws_lb_listener" | "aws_lb_target_group" | "aws_lb_target_group_attachment" => "the load balancer",
        "aws_nat_gateway" | "google_compute_router_nat" => "the NAT gateway",
        "aws_eip" => "an IP address",
        "aws_vpc"
        | "aws_subnet"
        | "aws_route"
        | "aws_route_table"
        | "aws_route_table_association"
        | "aws_internet_gateway"
        | "aws_vpc_endpoint"
        | "google_compute_network"
        | "google_compute_subnetwork"
        | "google_compute_router"
        | "aws_default_security_group"
        | "aws_network_interface" => "the network",
        "aws_security_group" | "aws_vpc_security_group_ingress_rule" | "aws_vpc_security_group_egress_rule" => {
            "the rules of the network"
        }
        "aws_iam_role"
        | "aws_iam_role_policy"
        | "aws_iam_role_policy_attachment"
        | "aws_iam_instance_profile"
        | "google_service_account"
        | "google_project_iam_member" => "roles and rights",
        "aws_launch_template" => "the template of the nodes",
        "aws_cloudwatch_log_group" => "the log of the control plane",
        "aws_ssm_parameter" => "the place of the kubeconfig",
        "google_container_cluster" => "the GKE control plane",
        _ => "a part of the infrastructure",
    }
}
