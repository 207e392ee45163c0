//! The count of everything that matters to the score, kept up event by event.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use k8s_monitor_contract::{
    Assessed, Deduction, Health, HealthScore, NodeCount, NotAssessed, ObjectName, Penalty, Points, Resource, Resources,
    Usage,
};

use crate::{ComponentState, ControlPlane, NodeFacts, NodeRef, PodFacts};

/// Objects listed for a penalty; all beyond are one line together.
const LISTED: usize = 100;
/// Restarting pods that are none too many.
const RESTARTING_TOLERATED: u64 = 10;

/// A pod's name in its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodName<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name there.
    pub name: &'a str,
}

/// What a cluster is read from, and may refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The list of nodes.
    Nodes,
    /// The list of pods.
    Pods,
    /// The metrics API.
    Metrics,
}

/// Sums of what is in the cluster. Wide enough that no cluster, however it lies, can make them overflow: what was added can
/// always be taken away again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sum {
    millicores: u128,
    bytes: u128,
}

/// What is known of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NodeTally {
    name: Arc<str>,
    facts: NodeFacts,
    used: Option<Resources>,
}

/// Namespace and name.
type PodKey = (Box<str>, Box<str>);

/// The count of a cluster.
///
/// A fresh one is of a cluster without nodes and pods whose control plane nobody has looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    nodes: HashMap<NodeRef, NodeTally>,
    ready: u64,
    measured: u64,
    allocatable: Sum,
    used: Sum,
    measured_allocatable: Sum,
    /// Requested of each node, whether or not the node itself is known yet.
    requested_of: HashMap<NodeRef, Sum>,
    requested: Sum,
    /// Nodes with each of the five problems.
    ill_nodes: [BTreeSet<Arc<str>>; 5],
    failed: BTreeSet<PodKey>,
    crash_looping: BTreeSet<PodKey>,
    restarting: u64,
    control_plane: ControlPlane,
    nodes_unreadable: Option<String>,
    pods_unreadable: Option<String>,
    metrics_unreadable: Option<String>,
}

impl Tally {
    /// A node is new or has changed. Its usage stays as it was told.
    pub fn set_node(&mut self, node: NodeRef, name: &str, facts: NodeFacts) {
        let before = self.take_node(node);
        let used = before.as_ref().and_then(|before| before.used);
        let name = before.map(|before| before.name).filter(|before| **before == *name).unwrap_or_else(|| name.into());
        self.ready += u64::from(facts.ready);
        self.allocatable.add(facts.allocatable);
        if let Some(used) = used {
            self.measured += 1;
            self.used.add(used);
            self.measured_allocatable.add(facts.allocatable);
        }
        for (ill, has) in self.ill_nodes.iter_mut().zip(problems(&facts)) {
            if has {
                ill.insert(Arc::clone(&name));
            }
        }
        self.nodes.insert(node, NodeTally { name, facts, used });
    }

    /// A node is gone. What its pods request stays counted until they are gone, too.
    pub fn remove_node(&mut self, node: NodeRef) {
        self.take_node(node);
    }

    fn take_node(&mut self, node: NodeRef) -> Option<NodeTally> {
        let before = self.nodes.remove(&node)?;
        self.ready -= u64::from(before.facts.ready);
        self.allocatable.subtract(before.facts.allocatable);
        if let Some(used) = before.used {
            self.measured -= 1;
            self.used.subtract(used);
            self.measured_allocatable.subtract(before.facts.allocatable);
        }
        for (ill, has) in self.ill_nodes.iter_mut().zip(problems(&before.facts)) {
            if has {
                ill.remove(&before.name);
            }
        }
        Some(before)
    }

    /// What the metrics API tells of a node; `None` if nothing any more. Nothing is kept of a node that is not known.
    pub fn set_used(&mut self, node: NodeRef, used: Option<Resources>) {
        let Some(tally) = self.nodes.get_mut(&node) else { return };
        let allocatable = tally.facts.allocatable;
        if let Some(before) = std::mem::replace(&mut tally.used, used) {
            self.measured -= 1;
            self.used.subtract(before);
            self.measured_allocatable.subtract(allocatable);
        }
        if let Some(used) = used {
            self.measured += 1;
            self.used.add(used);
            self.measured_allocatable.add(allocatable);
        }
    }

    /// A pod is new. One that changes is removed as it was and added as it is.
    pub fn add_pod(&mut self, pod: PodName<'_>, facts: &PodFacts) {
        if facts.problems.failed {
            self.failed.insert(pod.key());
        }
        if facts.problems.crash_looping {
            self.crash_looping.insert(pod.key());
        }
        self.restarting += u64::from(facts.problems.restarting);
        if let Some(node) = facts.node {
            self.requested.add(facts.requested());
            self.requested_of.entry(node).or_default().add(facts.requested());
        }
    }

    /// A pod is gone, or about to be added anew; with the facts it was added with.
    pub fn remove_pod(&mut self, pod: PodName<'_>, facts: &PodFacts) {
        if facts.problems.failed {
            self.failed.remove(&pod.key());
        }
        if facts.problems.crash_looping {
            self.crash_looping.remove(&pod.key());
        }
        self.restarting -= u64::from(facts.problems.restarting);
        if let Some(node) = facts.node {
            self.requested.subtract(facts.requested());
            if let Some(sum) = self.requested_of.get_mut(&node) {
                sum.subtract(facts.requested());
                if *sum == Sum::default() {
                    self.requested_of.remove(&node);
                }
            }
        }
    }

    /// How the control plane is now.
    pub fn set_control_plane(&mut self, control_plane: ControlPlane) {
        self.control_plane = control_plane;
    }

    /// Why something cannot be read, as sentences; `None` if it can.
    pub fn set_unreadable(&mut self, source: Source, reason: Option<String>) {
        match source {
            Source::Nodes => self.nodes_unreadable = reason,
            Source::Pods => self.pods_unreadable = reason,
            Source::Metrics => self.metrics_unreadable = reason,
        }
    }

    /// All nodes and those that are ready; `None` if nodes cannot be read.
    pub fn nodes(&self) -> Option<NodeCount> {
        self.nodes_unreadable.is_none().then(|| NodeCount { total: self.node_total(), ready: self.ready })
    }

    /// What the pods on a node request; `None` if pods cannot be read.
    pub fn requested_of(&self, node: NodeRef) -> Option<Resources> {
        self.pods_unreadable.is_none().then(|| self.requested_of.get(&node).copied().unwrap_or_default().into())
    }

    /// What is used on a node; `None` if it is not measured.
    pub fn used_of(&self, node: NodeRef) -> Option<Resources> {
        self.nodes.get(&node).and_then(|node| node.used)
    }

    /// CPU and memory of the cluster; `None` if nodes cannot be read.
    pub fn usage(&self) -> Option<Usage> {
        if self.nodes_unreadable.is_some() {
            return None;
        }
        let is_measured = self.measured > 0;
        let (used, of, all) = (Resources::from(self.used), self.measured_allocatable.into(), self.allocatable.into());
        let requested = self.pods_unreadable.is_none().then(|| Resources::from(self.requested));
        let resource = |part: fn(&Resources) -> u64| Resource {
            used: is_measured.then(|| part(&used)),
            measured_allocatable: is_measured.then(|| part(&of)),
            requested: requested.as_ref().map(part),
            allocatable: part(&all),
        };
        Some(Usage {
            cpu: resource(|resources| resources.cpu_millicores),
            memory: resource(|resources| resources.memory_bytes),
            measured_nodes: self.measured,
            nodes: self.node_total(),
            not_measured: self.not_measured(),
        })
    }

    /// Why not all nodes are measured.
    fn not_measured(&self) -> Option<String> {
        let total = self.node_total();
        if self.measured == total && self.measured > 0 {
            return None;
        }
        let because = self.metrics_unreadable.as_deref();
        Some(match (self.measured, total) {
            (_, 0) => "The cluster has no nodes.".to_owned(),
            (0, _) => because.unwrap_or("The metrics API tells of no node.").to_owned(),
            (measured, total) => {
                let count = format!("{measured} of {total} nodes are measured.");
                because.map_or_else(|| count.clone(), |because| format!("{count} {because}"))
            }
        })
    }

    fn node_total(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// The score at this moment. Takes the same short time however large the cluster is.
    pub fn score(&self) -> HealthScore {
        let counted: Points = self.counted().map(|(penalty, count)| points_each(penalty).times(count)).sum();
        let others: Points = self.of_the_whole().map(|deduction| deduction.points).sum();
        HealthScore::from(Points::FULL.less([counted, others].into_iter().sum()))
    }

    /// The score with every point accounted for.
    pub fn health(&self) -> Health {
        let nodes = NODE_PENALTIES.iter().zip(&self.ill_nodes).flat_map(|((penalty, problem), names)| {
            let named = names.iter().map(|name| (ObjectName::node(name), format!("Node {name} {problem}.")));
            listed(*penalty, named, names.len(), "nodes")
        });
        let pods = [
            (Penalty::PodFailed, "has failed", &self.failed),
            (Penalty::PodCrashLooping, "crashes again and again", &self.crash_looping),
        ];
        let pods = pods.into_iter().flat_map(|(penalty, problem, keys)| {
            let named = keys.iter().map(|(namespace, name)| {
                (ObjectName::pod(namespace, name), format!("Pod {name} in namespace {namespace} {problem}."))
            });
            listed(penalty, named, keys.len(), "pods")
        });
        let assess_nodes = self.nodes_unreadable.is_none();
        let assess_pods = self.pods_unreadable.is_none();
        let mut deductions: Vec<_> =
            nodes.filter(|_| assess_nodes).chain(pods.filter(|_| assess_pods)).chain(self.of_the_whole()).collect();
        deductions.sort_by_key(|deduction| deduction.penalty);
        let deducted = deductions.iter().map(|deduction| deduction.points).sum();
        let HealthScore { score, colour } = HealthScore::from(Points::FULL.less(deducted));
        Health { score, colour, deducted, deductions, not_assessed: self.not_assessed() }
    }

    /// How many objects have each problem that is counted by object.
    fn counted(&self) -> impl Iterator<Item = (Penalty, u64)> {
        let nodes = NODE_PENALTIES.iter().zip(&self.ill_nodes).map(|((penalty, _), ill)| (*penalty, ill.len() as u64));
        let pods = [
            (Penalty::PodFailed, self.failed.len() as u64),
            (Penalty::PodCrashLooping, self.crash_looping.len() as u64),
        ];
        let (assess_nodes, assess_pods) = (self.nodes_unreadable.is_none(), self.pods_unreadable.is_none());
        nodes.filter(move |_| assess_nodes).chain(pods.into_iter().filter(move |_| assess_pods))
    }

    /// Deductions that are few whatever the cluster's size: restarts, control plane, CPU and memory.
    fn of_the_whole(&self) -> impl Iterator<Item = Deduction> {
        let restarts = (self.pods_unreadable.is_none() && self.restarting > RESTARTING_TOLERATED).then(|| {
            let message = format!("{} pods were restarted within the last 15 minutes.", self.restarting);
            whole(Penalty::PodsRestarting, Points::halves(10), message)
        });
        restarts.into_iter().chain(self.of_the_control_plane()).chain(self.of_usage())
    }

    fn of_the_control_plane(&self) -> impl Iterator<Item = Deduction> {
        let components = self.control_plane.components();
        let unhealthy: Vec<_> = components
            .into_iter()
            .filter_map(|(what, name, state)| match state {
                ComponentState::Unhealthy(reason) => Some((what, name, reason)),
                ComponentState::Healthy | ComponentState::Unknown(_) => None,
            })
            .collect();
        let degraded = match unhealthy.as_slice() {
            [] => None,
            [(Assessed::ApiServer, ..)] => Some((Points::halves(30), "The API server alone is affected.")),
            _ => Some((Points::halves(60), "The control plane is degraded.")),
        };
        let degraded =
            degraded.map(|(points, message)| whole(Penalty::ControlPlaneDegraded, points, message.to_owned()));
        let each = unhealthy.into_iter().map(|(_, name, reason)| Deduction {
            penalty: Penalty::ComponentUnhealthy,
            object: Some(ObjectName::component(name)),
            count: 1,
            points: points_each(Penalty::ComponentUnhealthy),
            message: format!("{name} is not healthy. {reason}"),
        });
        degraded.into_iter().chain(each.collect::<Vec<_>>())
    }

    fn of_usage(&self) -> impl Iterator<Item = Deduction> {
        let is_measured = self.nodes_unreadable.is_none() && self.measured > 0;
        let (used, all) = (self.used, self.measured_allocatable);
        let rows = [
            (Penalty::CpuHigh, "CPU", used.millicores, all.millicores),
            (Penalty::MemoryHigh, "memory", used.bytes, all.bytes),
        ];
        rows.into_iter().filter(move |_| is_measured).filter_map(|(penalty, what, used, all)| {
            let points = match used.saturating_mul(100) {
                _ if all == 0 => return None,
                used if used >= all.saturating_mul(95) => Points::halves(20),
                used if used >= all.saturating_mul(80) => Points::halves(10),
                _ => return None,
            };
            let percent = used.saturating_mul(100) / all;
            Some(whole(penalty, points, format!("{percent} % of the cluster's {what} is in use.")))
        })
    }

    fn not_assessed(&self) -> Vec<NotAssessed> {
        let sources = [(Assessed::Nodes, &self.nodes_unreadable), (Assessed::Pods, &self.pods_unreadable)];
        let sources = sources.into_iter().filter_map(|(what, reason)| Some((what, reason.clone()?)));
        let components = self.control_plane.components().into_iter().filter_map(|(what, _, state)| match state {
            ComponentState::Unknown(reason) => Some((what, reason.clone())),
            ComponentState::Healthy | ComponentState::Unhealthy(_) => None,
        });
        let all = self.measured_allocatable;
        let usage = [(Assessed::Cpu, all.millicores), (Assessed::Memory, all.bytes)];
        let usage = usage.into_iter().filter_map(|(what, allocatable)| {
            if let Some(reason) = &self.nodes_unreadable {
                return Some((what, reason.clone()));
            }
            if self.measured == 0 {
                return Some((what, self.not_measured()?));
            }
            (allocatable == 0).then(|| (what, "The nodes say that they have nothing to allocate.".to_owned()))
        });
        sources.chain(components).chain(usage).map(|(what, reason)| NotAssessed { what, reason }).collect()
    }
}

const NODE_PENALTIES: [(Penalty, &str); 5] = [
    (Penalty::NodeNotReady, "is not ready"),
    (Penalty::NodeMemoryPressure, "is short of memory"),
    (Penalty::NodeDiskPressure, "is short of disk space"),
    (Penalty::NodePidPressure, "is short of process ids"),
    (Penalty::NodeNetworkUnavailable, "has no network"),
];

/// In the order of [`NODE_PENALTIES`].
const fn problems(facts: &NodeFacts) -> [bool; 5] {
    [!facts.ready, facts.memory_pressure, facts.disk_pressure, facts.pid_pressure, facts.network_unavailable]
}

/// What an object costs with this problem; nothing for penalties that are not by object.
const fn points_each(penalty: Penalty) -> Points {
    Points::halves(match penalty {
        Penalty::NodeNotReady => 10,
        Penalty::NodeMemoryPressure => 6,
        Penalty::NodeDiskPressure => 8,
        Penalty::NodePidPressure | Penalty::PodFailed => 4,
        Penalty::NodeNetworkUnavailable => 12,
        Penalty::PodCrashLooping => 5,
        Penalty::ComponentUnhealthy => 16,
        Penalty::PodsRestarting | Penalty::ControlPlaneDegraded | Penalty::CpuHigh | Penalty::MemoryHigh => 0,
    })
}

/// A line for each of the first objects, and one for all others together.
fn listed(
    penalty: Penalty,
    named: impl Iterator<Item = (ObjectName, String)>,
    total: usize,
    objects: &str,
) -> Vec<Deduction> {
    let each = points_each(penalty);
    let mut lines: Vec<_> = named
        .take(LISTED)
        .map(|(object, message)| Deduction { penalty, object: Some(object), count: 1, points: each, message })
        .collect();
    let more = total.saturating_sub(LISTED) as u64;
    if more > 0 {
        let message = format!("{more} more {objects} have the same problem.");
        lines.push(Deduction { penalty, object: None, count: more, points: each.times(more), message });
    }
    lines
}

fn whole(penalty: Penalty, points: Points, message: String) -> Deduction {
    Deduction { penalty, object: None, count: 1, points, message }
}

impl PodName<'_> {
    fn key(self) -> PodKey {
        (self.namespace.into(), self.name.into())
    }
}

impl PodFacts {
    fn requested(&self) -> Resources {
        Resources { cpu_millicores: self.requested_millicores.into(), memory_bytes: self.requested_bytes }
    }
}

impl Sum {
    fn add(&mut self, resources: Resources) {
        self.millicores += u128::from(resources.cpu_millicores);
        self.bytes += u128::from(resources.memory_bytes);
    }

    fn subtract(&mut self, resources: Resources) {
        self.millicores -= u128::from(resources.cpu_millicores);
        self.bytes -= u128::from(resources.memory_bytes);
    }
}

impl From<Sum> for Resources {
    fn from(sum: Sum) -> Self {
        let narrow = |wide: u128| u64::try_from(wide).unwrap_or(u64::MAX);
        Self { cpu_millicores: narrow(sum.millicores), memory_bytes: narrow(sum.bytes) }
    }
}

#[cfg(test)]
mod tests;
