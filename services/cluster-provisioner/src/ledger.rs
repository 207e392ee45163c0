//! The ledger of a cluster: what its runs made in the cloud, and when each of it was gone.

use cluster_provisioner_contract::{Price, Resource, RunRequest};
use cluster_provisioner_terraform::{InState, words_of};
use jiff::Timestamp;
use prices::{LoadBalancer, Purchase, Table, monthly};
use serde::{Deserialize, Serialize};

/// No more is kept of what is gone: a ledger is beside the state in a Secret.
const MOST_GONE: usize = 300;

/// What there is and what there was, in the order in which it was first seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger(Vec<Line>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    address: String,
    kind: String,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gone_at: Option<Timestamp>,
}

impl Line {
    /// Whether it is what an ARN names. In states some things have their short id, with which their ARN ends. Names such as
    /// `default` are unique within a service at best.
    fn is(&self, arn: &str) -> bool {
        let ends_with_id = || arn.rsplit(['/', ':']).next() == Some(&self.id);
        self.id == arn || !self.id.is_empty() && arn.split(':').nth(2) == Some(service(&self.kind)) && ends_with_id()
    }
}

/// The service in the ARNs of a type of resource.
fn service(kind: &str) -> &'static str {
    match kind {
        "aws_cloudwatch_log_group" => "logs",
        _ if kind.starts_with("aws_eks_") => "eks",
        _ if kind.starts_with("aws_iam_") => "iam",
        _ if kind.starts_with("aws_lb") => "elasticloadbalancing",
        _ if kind.starts_with("aws_autoscaling_") => "autoscaling",
        _ if kind.starts_with("aws_ssm_") => "ssm",
        _ => "ec2",
    }
}

impl Ledger {
    /// Reads what [`Ledger::to_text`] wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Follows a state: what is in it is there, and what is no longer in it is gone.
    pub(crate) fn follow(&mut self, state: &[InState], now: Timestamp) {
        let is = |line: &Line, one: &InState| line.address == one.address && line.id == one.id;
        for line in self.0.iter_mut().filter(|line| !line.address.is_empty()) {
            let is_there = state.iter().any(|one| is(line, one));
            line.gone_at = if is_there { None } else { line.gone_at.or(Some(now)) };
        }
        for one in state {
            if !self.0.iter().any(|line| is(line, one)) {
                let InState { address, kind, id } = one.clone();
                self.0.push(Line { address, kind, id, gone_at: None });
            }
        }
        let mut surplus = self.0.iter().filter(|line| line.gone_at.is_some()).count().saturating_sub(MOST_GONE);
        self.0.retain(|line| {
            let is_surplus = surplus > 0 && line.gone_at.is_some();
            surplus -= usize::from(is_surplus);
            !is_surplus
        });
    }

    /// Follows what was found by its tag after everything in the state had gone, and says how much is left: neither was it
    /// in a state that it is gone from, nor is it no longer found.
    pub(crate) fn found(&mut self, ids: &[String], now: Timestamp) -> usize {
        let in_no_state = |line: &Line| line.address.is_empty();
        for line in self.0.iter_mut().filter(|line| in_no_state(line)) {
            line.gone_at = if ids.contains(&line.id) { None } else { line.gone_at.or(Some(now)) };
        }
        for id in ids {
            if !self.0.iter().any(|line| line.is(id)) {
                self.0.push(Line { address: String::new(), kind: String::new(), id: id.clone(), gone_at: None });
            }
        }
        self.0.iter().filter(|line| in_no_state(line) && line.gone_at.is_none()).count()
    }

    /// How many of it are there.
    #[cfg(test)]
    fn left(&self) -> usize {
        self.0.iter().filter(|line| line.gone_at.is_none()).count()
    }

    /// As it is shown, with list prices.
    pub(crate) fn shown(&self, request: &RunRequest, prices: &Table) -> Vec<Resource> {
        let shown = |line: &Line| Resource {
            address: line.address.clone(),
            what: if line.address.is_empty() { "something found by its tag" } else { words_of(&line.kind) }.to_owned(),
            id: line.id.clone(),
            gone_at: line.gone_at,
            price: if line.address.is_empty() { Price::Unknown } else { price(&line.kind, request, prices) },
        };
        self.0.iter().map(shown).collect()
    }
}

/// What a resource of our modules costs in a month.
fn price(kind: &str, request: &RunRequest, prices: &Table) -> Price {
    let (cloud, region) = (request.provider.as_str(), request.region.as_str());
    let machine = || prices.machine(cloud, region, &request.instance_type, Purchase::OnDemand);
    let nodes = u64::from(request.nodes);
    let (found, count) = match kind {
        "aws_eks_cluster" => (prices.control_plane(cloud, region, "eks"), 1),
        "google_container_cluster" => (prices.control_plane(cloud, region, "gke"), 1),
        "aws_instance" => (machine(), 1),
        "aws_autoscaling_group" | "aws_eks_node_group" | "google_container_node_pool" => (machine(), nodes),
        "aws_lb" => (prices.load_balancer(cloud, region, LoadBalancer::Network), 1),
        // A control plane of one node has its address attached to it, and such an address has a price as well.
        "aws_nat_gateway" | "aws_eip" | "aws_cloudwatch_log_group" | "google_compute_router_nat" => (None, 1),
        _ => return Price::Free,
    };
    found.map_or(Price::Unknown, |price| Price::Monthly(monthly(price.amount).times(count)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn one(address: &str, id: &str) -> InState {
        let kind = address.split('.').next().unwrap().to_owned();
        InState { address: address.to_owned(), kind, id: id.to_owned() }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn what_is_no_longer_in_the_state_is_gone_since_then_and_what_is_made_anew_is_another() {
        let mut ledger = Ledger::default();
        ledger.follow(&[one("aws_vpc.this", "vpc-1"), one("aws_eip.nat", "eip-1")], at(1));
        ledger.follow(&[one("aws_vpc.this", "vpc-1"), one("aws_eip.nat", "eip-2")], at(2));
        ledger.follow(&[one("aws_vpc.this", "vpc-1")], at(3));
        ledger.follow(&[one("aws_vpc.this", "vpc-1")], at(4));

        let lines: Vec<_> = ledger.0.iter().map(|line| (line.id.as_str(), line.gone_at)).collect();
        assert_eq!(lines, [("vpc-1", None), ("eip-1", Some(at(2))), ("eip-2", Some(at(3)))]);
        assert_eq!((ledger.left(), Ledger::parse(&ledger.to_text())), (1, Some(ledger)));
    }

    #[test]
    fn what_is_found_by_its_tag_counts_unless_it_was_seen_to_go() {
        let mut ledger = Ledger::default();
        ledger.follow(&[one("aws_nat_gateway.this", "nat-1"), one("aws_vpc.this", "arn:aws:ec2:::vpc/vpc-1")], at(1));
        ledger.follow(&[], at(2));
        let lingering = ["arn:aws:ec2:eu-north-1:1:natgateway/nat-1", "arn:aws:ec2:::vpc/vpc-1"].map(str::to_owned);
        assert_eq!(ledger.found(&lingering, at(3)), 0);

        let volume = ["arn:aws:ec2:eu-north-1:1:volume/vol-1".to_owned()];
        assert_eq!(ledger.found(&volume, at(4)), 1);
        ledger.follow(&[], at(5));
        assert_eq!(ledger.left(), 1, "it is in no state, and left all the same");
        assert_eq!((ledger.found(&[], at(6)), ledger.left()), (0, 0));
    }

    #[test]
    fn what_has_the_name_of_something_of_another_service_is_left_though_that_is_gone() {
        let mut ledger = Ledger::default();
        ledger.follow(&[one("aws_eks_addon.this", "default"), one("aws_iam_role.this", "north")], at(1));
        ledger.follow(&[], at(2));
        let lingering = "arn:aws:iam::1:role/north".to_owned();
        let others = ["arn:aws:ec2:eu-north-1:1:security-group/default", "arn:aws:eks:eu-north-1:1:cluster/north"];

        let found: Vec<_> = others.map(str::to_owned).into_iter().chain([lingering]).collect();

        assert_eq!(ledger.found(&found, at(3)), 2);
    }

    #[test]
    fn of_what_is_gone_only_so_much_is_kept_and_of_what_is_there_everything() {
        let mut ledger = Ledger::default();
        for number in 0..400 {
            ledger.follow(&[one("aws_vpc.this", "vpc"), one("aws_eip.nat", &format!("eip-{number}"))], at(number));
        }
        assert_eq!((ledger.left(), ledger.0.len()), (2, MOST_GONE + 2));
    }

    #[test]
    fn what_costs_something_has_its_price_and_what_has_none_is_not_called_free() {
        let request = RunRequest {
            cluster: vocabulary::ClusterId::random(),
            name: "north".parse().unwrap(),
            provider: "aws".parse().unwrap(),
            region: "us-east-1".parse().unwrap(),
            topology: cluster_provisioner_contract::Topology::ManagedEks,
            nodes: 3,
            instance_type: "t3.medium".to_owned(),
            kubernetes_version: "1.35".parse().unwrap(),
            credential: "c".to_owned(),
        };
        let price = |kind| price(kind, &request, Table::built_in());
        let Price::Monthly(machine) = price("aws_instance") else { unreachable!() };
        assert_eq!(price("aws_eks_node_group"), Price::Monthly(machine.times(3)));
        assert!(matches!(price("aws_eks_cluster"), Price::Monthly(_)));
        assert_eq!((price("aws_vpc"), price("aws_nat_gateway")), (Price::Free, Price::Unknown));
    }
}
