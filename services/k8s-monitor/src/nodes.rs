//! The nodes of a cluster.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use k8s_monitor_contract::{CapacityType, Node as Shown, Resources};
use k8s_monitor_health::{NodeFacts, NodeRef, Tally};
use kube_kit::provider_of;
use serde::Deserialize;
use vocabulary::Provider;

use crate::{
    node_names::NodeNames,
    pods::{Amounts, Condition},
    watch::{Metadata, Text},
};

/// So many nodes are kept: twice what Kubernetes is made for.
pub(crate) const MOST: usize = 10_000;

/// What is looked at of a node. A whole one, with its list of images, is a hundred times as large.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Node<'a> {
    #[serde(borrow)]
    pub(crate) metadata: Metadata<'a, Labels<'a>>,
    #[serde(borrow)]
    spec: Spec<'a>,
    #[serde(borrow)]
    status: Status<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spec<'a> {
    #[serde(rename = "providerID", borrow)]
    provider_id: Text<'a>,
    unschedulable: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow)]
    capacity: Amounts<'a>,
    #[serde(borrow)]
    allocatable: Amounts<'a>,
    #[serde(borrow)]
    conditions: Vec<Condition<'a>>,
    #[serde(borrow)]
    node_info: NodeInfo<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct NodeInfo<'a> {
    #[serde(borrow)]
    kubelet_version: Text<'a>,
}

/// The labels by which clouds and autoscalers tell what a node is.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(crate) struct Labels<'a> {
    #[serde(rename = "kubernetes.io/os", borrow)]
    os: Text<'a>,
    #[serde(rename = "node.kubernetes.io/instance-type", borrow)]
    instance_type: Text<'a>,
    #[serde(rename = "beta.kubernetes.io/instance-type", borrow)]
    instance_type_of_old: Text<'a>,
    #[serde(rename = "topology.kubernetes.io/region", borrow)]
    region: Text<'a>,
    #[serde(rename = "failure-domain.beta.kubernetes.io/region", borrow)]
    region_of_old: Text<'a>,
    #[serde(rename = "topology.kubernetes.io/zone", borrow)]
    zone: Text<'a>,
    #[serde(rename = "failure-domain.beta.kubernetes.io/zone", borrow)]
    zone_of_old: Text<'a>,
    #[serde(rename = "eks.amazonaws.com/capacityType", borrow)]
    eks_capacity: Text<'a>,
    #[serde(rename = "karpenter.sh/capacity-type", borrow)]
    karpenter_capacity: Text<'a>,
    #[serde(rename = "cloud.google.com/gke-spot", borrow)]
    gke_spot: Text<'a>,
    #[serde(rename = "cloud.google.com/gke-preemptible", borrow)]
    gke_preemptible: Text<'a>,
    #[serde(rename = "kubernetes.azure.com/scalesetpriority", borrow)]
    azure_priority: Text<'a>,
}

impl Labels<'_> {
    fn say_spot(&self) -> bool {
        let of_kind = [&self.eks_capacity, &self.karpenter_capacity, &self.azure_priority];
        of_kind.into_iter().any(|kind| kind.eq_ignore_ascii_case("spot"))
            || [&self.gke_spot, &self.gke_preemptible].into_iter().any(|flag| &**flag == "true")
    }
}

/// Clouds that sell nodes by the hour.
const CLOUDS: [&str; 3] = [Provider::AWS, Provider::GCP, "azure"];

impl Node<'_> {
    fn has(&self, condition: &str) -> bool {
        let is_true = |each: &Condition<'_>| &*each.r#type == condition && &*each.status == "True";
        self.status.conditions.iter().any(is_true)
    }

    /// As it is shown, but for what others tell of it.
    fn shown(&self) -> Shown {
        let labels = &self.metadata.labels;
        let place = provider_of(&self.spec.provider_id);
        let is_sold = place.as_ref().is_some_and(|(provider, _)| CLOUDS.contains(&provider.as_str()));
        let capacity_type = if labels.say_spot() { CapacityType::Spot } else { CapacityType::OnDemand };
        let region = labels.region.kept().or_else(|| labels.region_of_old.kept());
        Shown {
            name: self.metadata.name.kept().unwrap_or_default(),
            ready: self.has("Ready"),
            memory_pressure: self.has("MemoryPressure"),
            disk_pressure: self.has("DiskPressure"),
            pid_pressure: self.has("PIDPressure"),
            network_unavailable: self.has("NetworkUnavailable"),
            schedulable: !self.spec.unschedulable,
            capacity: self.status.capacity.resources(),
            allocatable: self.status.allocatable.resources(),
            requested: None,
            used: None,
            version: self.status.node_info.kubelet_version.kept().unwrap_or_default(),
            operating_system: labels.os.kept(),
            instance_type: labels.instance_type.kept().or_else(|| labels.instance_type_of_old.kept()),
            region: region.or_else(|| Some(place?.1?.to_string())),
            zone: labels.zone.kept().or_else(|| labels.zone_of_old.kept()),
            capacity_type: is_sold.then_some(capacity_type),
            price: None,
            created_at: self.metadata.creation_timestamp.time(),
        }
    }
}

impl Kept {
    fn costs_the_same(&self, other: &Self) -> bool {
        let what = |kept: &Self| (kept.node.capacity, kept.node.allocatable, kept.node.capacity_type);
        let names = |kept: &'_ Self| {
            let node = &kept.node;
            [&node.instance_type, &node.region, &node.operating_system].map(Clone::clone)
        };
        what(self) == what(other) && self.provider == other.provider && names(self) == names(other)
    }
}

/// The nodes of a cluster.
#[derive(Default)]
pub(crate) struct Nodes {
    by_number: HashMap<NodeRef, Kept>,
    /// Of the present list.
    list: u8,
    /// Grows with every change of what a node costs.
    cost_changes: u64,
}

struct Kept {
    node: Shown,
    provider: Option<Provider>,
    /// The list that named it last.
    list: u8,
}

/// Where most of a cluster's nodes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The cloud's name, or unknown.
    pub(crate) provider: String,
    /// The region's name, or unknown.
    pub(crate) region: String,
}

impl Nodes {
    /// A new list begins.
    pub(crate) const fn list_begins(&mut self) {
        self.list = self.list.wrapping_add(1);
    }

    /// The list is complete: what it did not name is gone.
    pub(crate) fn list_ends(&mut self, tally: &mut Tally) {
        let list = self.list;
        let before = self.by_number.len();
        self.by_number.retain(|number, kept| {
            let is_there = kept.list == list;
            if !is_there {
                tally.remove_node(*number);
            }
            is_there
        });
        self.cost_changes += u64::from(self.by_number.len() != before);
        self.by_number.shrink_to_fit();
    }

    /// A node is there, as it is now. Returns whether it was kept: it is not if there are too many, or it has no name.
    pub(crate) fn put(&mut self, node: &Node<'_>, names: &mut NodeNames, tally: &mut Tally) -> bool {
        let Some(number) = names.number(&node.metadata.name) else { return false };
        if self.by_number.len() >= MOST && !self.by_number.contains_key(&number) {
            return false;
        }
        let provider = provider_of(&node.spec.provider_id).map(|(provider, _)| provider);
        let kept = Kept { node: node.shown(), provider, list: self.list };
        tally.set_node(number, &kept.node.name, NodeFacts::from(&kept.node));
        let costs_the_same = self.by_number.get(&number).is_some_and(|before| before.costs_the_same(&kept));
        self.cost_changes += u64::from(!costs_the_same);
        self.by_number.insert(number, kept);
        true
    }

    /// A node is gone.
    pub(crate) fn delete(&mut self, node: &Node<'_>, names: &NodeNames, tally: &mut Tally) {
        if let Some(number) = names.known(&node.metadata.name)
            && self.by_number.remove(&number).is_some()
        {
            tally.remove_node(number);
            self.cost_changes += 1;
        }
    }

    /// Grows with every change of what a node costs.
    pub(crate) const fn cost_changes(&self) -> u64 {
        self.cost_changes
    }

    /// Where most nodes are; equal counts are decided by name.
    pub(crate) fn place(&self) -> Place {
        let most = |names: &mut dyn Iterator<Item = &str>| {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for name in names {
                *counts.entry(name).or_default() += 1;
            }
            let most = counts.into_iter().min_by_key(|(_, count)| Reverse(*count));
            most.map_or_else(|| Provider::UNKNOWN.to_owned(), |(name, _)| name.to_owned())
        };
        let all = || self.by_number.values();
        Place {
            provider: most(&mut all().filter_map(|kept| kept.provider.as_ref().map(Provider::as_str))),
            region: most(&mut all().filter_map(|kept| kept.node.region.as_deref())),
        }
    }

    /// What the metrics API tells: usage by name. A node it does not tell of is not measured.
    pub(crate) fn measured(&self, usage: &HashMap<&str, Resources>, tally: &mut Tally) {
        for (number, kept) in &self.by_number {
            tally.set_used(*number, usage.get(kept.node.name.as_str()).copied());
        }
    }

    /// All of them by name, with what others tell of them.
    pub(crate) fn shown(&self, tally: &Tally) -> Vec<Shown> {
        let whole = |(number, kept): (&NodeRef, &Kept)| Shown {
            requested: tally.requested_of(*number),
            used: tally.used_of(*number),
            ..kept.node.clone()
        };
        let mut nodes: Vec<_> = self.by_number.iter().map(whole).collect();
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        nodes
    }

    /// Their numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = NodeRef> {
        self.by_number.keys().copied()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }
}
