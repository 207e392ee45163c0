//! What a cluster costs in a month: what was seen of it and a price table in, items out. No client, no clock, no runtime.
//!
//! What the table does not know is not priced: it is named, left out of the sum, and the sum says so. Nothing is ever
//! negative, as amounts of money cannot be.

mod control_plane;
mod node;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use jiff::civil::Date;
use k8s_monitor_contract::{Cost, CostItem, CostKind, CostTotal, Node, NotPriced};
use prices::{LoadBalancer, Price, Source, Table};
use vocabulary::{ClusterId, Money};

pub use control_plane::{ControlPlane, control_plane};
pub use node::price as node_price;

/// What is known of a cluster that costs something.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Which cluster; somebody may have said what it costs.
    pub cluster: ClusterId,
    /// Its cloud, such as `aws`, or whatever it is called.
    pub provider: &'a str,
    /// Its region; a node's own region goes before it.
    pub region: &'a str,
    /// Its nodes.
    pub nodes: &'a [Node],
    /// Who runs its control plane.
    pub control_plane: ControlPlane<'a>,
    /// Its load balancers of the cloud, by kind; or why they are not known.
    pub load_balancers: Result<&'a [(LoadBalancer, u64)], &'a str>,
    /// Its volumes of the cloud: type, how many, gibibytes in all; or why they are not known.
    pub volumes: Result<&'a [(&'a str, u64, u64)], &'a str>,
    /// The day it is about: support of Kubernetes versions ends.
    pub today: Date,
}

/// Something with a price, or why it has none.
pub(crate) enum Judged<'a> {
    Priced { each: Money, basis: String, source: Option<&'a Source> },
    NotPriced { reason: String },
}

impl<'a> Judged<'a> {
    pub(crate) fn hourly(price: Option<Price<'a>>, basis: &str, otherwise: impl FnOnce() -> String) -> Self {
        match price {
            Some(Price { amount, source }) => {
                Self::Priced { each: prices::monthly(amount), basis: basis.to_owned(), source: Some(source) }
            }
            None => Self::NotPriced { reason: otherwise() },
        }
    }
}

/// What kind of price a list price is.
pub(crate) const LIST_PRICE: &str = "list price, on demand";

/// What to do about a price that is not known.
pub(crate) const UPDATE: &str = "Add it with kubeopera prices update.";

/// The monthly cost of a cluster.
pub fn monthly(seen: &Seen<'_>, table: &Table) -> Cost {
    let mut account = Account::default();
    for node in seen.nodes {
        let what = node::what(node, seen.region);
        account.add(CostKind::Nodes, what, 1, 1, node::judge(seen, node, table));
    }
    for (kind, what, judged) in control_plane::judge(seen, table) {
        account.add(kind, what, 1, 1, judged);
    }
    let place = format!("{} in {}", seen.provider, seen.region);
    let load_balancers = seen.load_balancers.unwrap_or_else(|reason| {
        account.add_unknown(CostKind::LoadBalancer, "Load balancers", reason);
        &[]
    });
    for (kind, count) in load_balancers.iter().filter(|(_, count)| *count > 0) {
        for Charged { kind, what, units, things } in charged(*kind, *count) {
            let price = table.load_balancer(seen.provider, seen.region, kind);
            let judged = Judged::hourly(price, "list price, without traffic", || {
                format!("The price table has no load balancer of this kind for {place}. {UPDATE}")
            });
            account.add(CostKind::LoadBalancer, what.to_owned(), units, things, judged);
        }
    }
    let volumes = seen.volumes.unwrap_or_else(|reason| {
        account.add_unknown(CostKind::Volumes, "Volumes", reason);
        &[]
    });
    for (volume_type, volumes, gibibytes) in volumes.iter().filter(|(_, volumes, _)| *volumes > 0) {
        let judged = match table.volume(seen.provider, seen.region, volume_type) {
            Some(price) => Judged::Priced {
                each: price.amount,
                basis: "list price, a gibibyte, without operations".to_owned(),
                source: Some(price.source),
            },
            None => Judged::NotPriced {
                reason: format!("The price table has no volumes of type {volume_type} for {place}. {UPDATE}"),
            },
        };
        account.add(CostKind::Volumes, format!("Volumes of type {volume_type}"), *gibibytes, *volumes, judged);
    }
    account.close()
}

/// Load balancers that have one price.
struct Charged {
    kind: LoadBalancer,
    what: &'static str,
    /// How often the price is due, and for how many of them.
    units: u64,
    things: u64,
}

/// Up to so many forwarding rules cost as much as one. Google counts all of a project, of which a cluster shows its own.
const RULES_TOGETHER: u64 = 5;

/// How so many load balancers of a kind are charged.
fn charged(kind: LoadBalancer, count: u64) -> Vec<Charged> {
    let what = match kind {
        LoadBalancer::Network => "Network Load Balancer",
        LoadBalancer::Application => "Application Load Balancer",
        LoadBalancer::Classic => "Classic Load Balancer",
        LoadBalancer::ForwardingRule => "Forwarding rules, up to five together",
        LoadBalancer::FurtherForwardingRule => "Forwarding rule beyond five",
    };
    if kind != LoadBalancer::ForwardingRule {
        return vec![Charged { kind, what, units: count, things: count }];
    }
    let mut all = vec![Charged { kind, what, units: 1, things: count.min(RULES_TOGETHER) }];
    if count > RULES_TOGETHER {
        all.extend(charged(LoadBalancer::FurtherForwardingRule, count - RULES_TOGETHER));
    }
    all
}

/// What is added up so far: equal things together.
#[derive(Default)]
struct Account<'a> {
    priced: BTreeMap<(CostKind, String, Money, String), u64>,
    not_priced: BTreeMap<(CostKind, String, String), u64>,
    total: CostTotal,
    sources: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Account<'a> {
    /// Adds so many units that are that many things.
    fn add(&mut self, kind: CostKind, what: String, units: u64, things: u64, judged: Judged<'a>) {
        match judged {
            Judged::Priced { each, basis, source } => {
                *self.priced.entry((kind, what, each, basis)).or_default() += units;
                self.total.priced += things;
                self.sources.extend(source.map(|source| (source.words.as_str(), source.date.as_str())));
            }
            Judged::NotPriced { reason } => {
                *self.not_priced.entry((kind, what, reason)).or_default() += things;
                self.total.not_priced += things;
            }
        }
    }

    /// Adds things of a kind of which nothing is known, not even how many: one that is not priced.
    fn add_unknown(&mut self, kind: CostKind, what: &str, reason: &str) {
        self.add(kind, what.to_owned(), 1, 1, Judged::NotPriced { reason: reason.to_owned() });
    }

    fn close(mut self) -> Cost {
        let mut items: Vec<_> = self
            .priced
            .into_iter()
            .map(|((kind, what, each, basis), count)| CostItem {
                kind,
                what,
                count,
                each,
                monthly: each.times(count),
                basis,
            })
            .collect();
        items.sort_by_key(|item| Reverse(item.monthly));
        if !items.is_empty() {
            self.total.monthly = Some(items.iter().map(|item| item.monthly).sum());
        }
        let not_priced = self.not_priced.into_iter();
        let not_priced =
            not_priced.map(|((kind, what, reason), count)| NotPriced { kind, what, count, reason }).collect();
        let sources: Vec<_> = self.sources.iter().map(|(words, date)| format!("{words} ({date})")).collect();
        Cost { total: self.total, items, not_priced, source: sources.join("; ") }
    }
}

#[cfg(test)]
mod tests;
