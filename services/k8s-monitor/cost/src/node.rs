//! What a node costs.

use k8s_monitor_contract::{CapacityType, Node, NodePrice};
use prices::{OwnRates, Purchase, Table};
use vocabulary::{Money, Provider};

use crate::{Judged, LIST_PRICE, Seen, UPDATE};

/// How a node's price is named: what it is, and where.
pub(crate) fn what(node: &Node, region: &str) -> String {
    let spot = if node.capacity_type == Some(CapacityType::Spot) { ", spot" } else { "" };
    match node.instance_type.as_deref() {
        Some(of) => format!("{of} in {}{spot}", region_of(node, region)),
        None => "Node of an unknown type".to_owned(),
    }
}

fn region_of<'a>(node: &'a Node, region: &'a str) -> &'a str {
    node.region.as_deref().unwrap_or(region)
}

/// The price of one of a cluster's nodes; `None` if it is not priced.
pub fn price(seen: &Seen<'_>, node: &Node, table: &Table) -> Option<NodePrice> {
    match judge(seen, node, table) {
        Judged::Priced { each, basis, .. } => Some(NodePrice { monthly: each, basis }),
        Judged::NotPriced { .. } => None,
    }
}

pub(crate) fn judge<'a>(seen: &Seen<'_>, node: &Node, table: &'a Table) -> Judged<'a> {
    if let Some(rates) = table.own_rates(seen.cluster).filter(OwnRates::are_for_nodes) {
        return Judged::Priced {
            each: by_own_rates(&rates, node),
            basis: "as set for this cluster".into(),
            source: None,
        };
    }
    let not_priced = |reason: String| Judged::NotPriced { reason };
    if !matches!(seen.provider, Provider::AWS | Provider::GCP) {
        return not_priced(
            "Only machines of AWS and Google Cloud have list prices here. Say what this cluster costs with kubeopera \
             prices set."
                .to_owned(),
        );
    }
    let Some(instance_type) = node.instance_type.as_deref() else {
        return not_priced("No label of the node tells its instance type.".to_owned());
    };
    if node.operating_system.as_deref().is_some_and(|system| system != "linux") {
        return not_priced("The price table has Linux machines only.".to_owned());
    }
    let bought = match node.capacity_type {
        Some(CapacityType::Spot) => Purchase::Spot,
        Some(CapacityType::OnDemand) | None => Purchase::OnDemand,
    };
    let region = region_of(node, seen.region);
    let basis = if bought == Purchase::Spot { "spot price of the table's day" } else { LIST_PRICE };
    Judged::hourly(table.machine(seen.provider, region, instance_type, bought), basis, || match bought {
        Purchase::Spot => "Spot prices change all the time, and the price table has none for this machine.".to_owned(),
        Purchase::OnDemand => format!("The price table has no {instance_type} for {region}. {UPDATE}"),
    })
}

fn by_own_rates(rates: &OwnRates, node: &Node) -> Money {
    const MIB: u64 = 1 << 20;
    let part = |rate: Option<Money>, parts: u64, whole: u64| {
        let nanos = u128::from(rate.unwrap_or_default().in_nanos()) * u128::from(parts) / u128::from(whole);
        Money::nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    };
    let node_itself = rates.node.unwrap_or_default();
    let cpu = part(rates.cpu, node.capacity.cpu_millicores, 1000);
    let memory = part(rates.memory_gib, node.capacity.memory_bytes / MIB, 1024);
    [node_itself, cpu, memory].into_iter().sum()
}
