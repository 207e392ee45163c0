//! All that is known of a cluster, kept up event by event.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use jiff::Timestamp;
use k8s_monitor_contract::{Assessed, Health, NotAssessed, Resources};
use k8s_monitor_health::{ComponentState, ControlPlane, Source, Tally};
use tokio::time::Instant;
use vocabulary::TroubleKind;

use crate::{
    assets::{Assets, Look},
    call::Refusal,
    events::{Event, Events},
    leases::{Component, Leases},
    node_names::NodeNames,
    nodes::{self, Node, Nodes, Place},
    pods::{self, Pod, Pods},
    standing::Standing,
};

/// After a refusal and for so long, what was read last is still shown as it is: an API server that starts refuses
/// rightful requests for some seconds.
const REFUSED: Duration = Duration::from_secs(10);
/// The same for an API server that answers otherwise and fails at this.
const FAILED: Duration = Duration::from_mins(1);

/// All that is known of a cluster.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) standing: Standing,
    pub(crate) tally: Tally,
    pub(crate) events: Events,
    pub(crate) leases: Leases,
    nodes: Nodes,
    pods: Pods,
    names: NodeNames,
    node_list: Listed,
    pod_list: Listed,
    control_plane: Option<ControlPlane>,
    version: Option<String>,
    assets: Assets,
    other_cost_changes: u64,
    /// Grows with every change.
    changes: u64,
}

/// How reading a kind of object goes.
#[derive(Default)]
struct Listed {
    /// It was read completely once, or it is known why it is not.
    is_settled: bool,
    /// There are more than are kept.
    is_overfull: bool,
    /// Objects that could not be read since the list began.
    skipped: u64,
    failing_since: Option<Instant>,
}

impl Listed {
    const fn begins(&mut self) {
        self.is_overfull = false;
        self.skipped = 0;
    }

    /// Why it is not read, if that has lasted long enough to say so.
    fn fails(&mut self, refusal: &Refusal) -> Option<String> {
        let since = *self.failing_since.get_or_insert_with(Instant::now);
        let patience = if refusal.trouble.kind == TroubleKind::Rejected { REFUSED } else { FAILED };
        // Nothing is shown that could be kept.
        let is_over = !self.is_settled && refusal.code == Some(403);
        (is_over || since.elapsed() >= patience).then(|| refusal.trouble.message.clone())
    }
}

impl State {
    /// Grows with every change.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    pub(crate) const fn has_changed(&mut self) {
        self.changes += 1;
    }

    /// Everything that the score depends on was looked at.
    pub(crate) const fn is_complete(&self) -> bool {
        self.node_list.is_settled && self.pod_list.is_settled && self.control_plane.is_some()
    }

    /// Nodes were read completely once.
    pub(crate) const fn has_nodes(&self) -> bool {
        self.node_list.is_settled
    }

    pub(crate) const fn node_list_begins(&mut self) {
        self.node_list.begins();
        self.nodes.list_begins();
    }

    pub(crate) fn put_node(&mut self, node: &Node<'_>) {
        if !self.nodes.put(node, &mut self.names, &mut self.tally) {
            if self.nodes.len() >= nodes::MOST {
                self.node_list.is_overfull = true;
            } else {
                self.node_list.skipped += 1;
            }
        }
        self.forget_names();
    }

    pub(crate) fn delete_node(&mut self, node: &Node<'_>) {
        self.nodes.delete(node, &self.names, &mut self.tally);
    }

    pub(crate) fn node_list_ends(&mut self, is_cut_short: bool) {
        self.node_list.is_overfull |= is_cut_short;
        self.nodes.list_ends(&mut self.tally);
        self.node_list.is_settled = true;
    }

    pub(crate) const fn node_skipped(&mut self) {
        self.node_list.skipped += 1;
    }

    pub(crate) fn nodes_follow(&mut self, why_not: Option<&Refusal>) {
        let (is_news, reason) = follows(&mut self.node_list, why_not, || {
            format!("The cluster has more than {} nodes; so many are not watched.", nodes::MOST)
        });
        if is_news {
            self.tally.set_unreadable(Source::Nodes, reason);
        }
    }

    pub(crate) const fn pod_list_begins(&mut self) {
        self.pod_list.begins();
        self.pods.list_begins();
    }

    pub(crate) fn put_pod(&mut self, pod: &Pod<'_>, now: Timestamp) {
        if !self.pods.put(pod, &mut self.names, &mut self.tally, now) {
            if self.pods.len() >= pods::MOST { self.pod_list.is_overfull = true } else { self.pod_list.skipped += 1 }
        }
        self.forget_names();
    }

    pub(crate) fn delete_pod(&mut self, pod: &Pod<'_>) {
        self.pods.delete(pod, &mut self.tally);
    }

    pub(crate) fn pod_list_ends(&mut self, is_cut_short: bool) {
        self.pod_list.is_overfull |= is_cut_short;
        self.pods.list_ends(&mut self.tally);
        self.pod_list.is_settled = true;
    }

    pub(crate) const fn pod_skipped(&mut self) {
        self.pod_list.skipped += 1;
    }

    pub(crate) fn pods_follow(&mut self, why_not: Option<&Refusal>) {
        let (is_news, reason) = follows(&mut self.pod_list, why_not, || {
            format!("The cluster has more than {} pods; so many are not watched.", pods::MOST)
        });
        if is_news {
            self.tally.set_unreadable(Source::Pods, reason);
        }
    }

    pub(crate) fn put_event(&mut self, event: &Event<'_>, now: Timestamp) {
        self.events.put(event, now);
    }

    pub(crate) fn set_control_plane(&mut self, control_plane: ControlPlane) {
        if self.control_plane.as_ref() != Some(&control_plane) {
            self.tally.set_control_plane(control_plane.clone());
            self.control_plane = Some(control_plane);
            self.has_changed();
        }
    }

    /// Somebody acts as this component. Returns whether that is news.
    pub(crate) fn component_acts(&mut self, component: Component) -> bool {
        let Some(mut control_plane) = self.control_plane.clone() else { return false };
        let state = match component {
            Component::Scheduler => &mut control_plane.scheduler,
            Component::ControllerManager => &mut control_plane.controller_manager,
        };
        let is_news = std::mem::replace(state, ComponentState::Healthy) != ComponentState::Healthy;
        self.set_control_plane(control_plane);
        is_news
    }

    /// The API server's version, as it says it.
    pub(crate) fn set_version(&mut self, version: String) {
        if self.version.as_ref() != Some(&version) {
            self.version = Some(version);
            self.other_cost_changes += 1;
            self.has_changed();
        }
    }

    /// Load balancers and volumes were looked for.
    pub(crate) fn assets_seen(&mut self, look: Look) {
        if self.assets.take_over(look, Instant::now()) {
            self.other_cost_changes += 1;
            self.has_changed();
        }
    }

    /// Load balancers and volumes.
    pub(crate) const fn assets(&self) -> &Assets {
        &self.assets
    }

    /// The API server's version, once it is known.
    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Grows with every change of what the cluster costs.
    pub(crate) const fn cost_changes(&self) -> u64 {
        self.nodes.cost_changes() + self.other_cost_changes
    }

    /// Where most nodes are.
    pub(crate) fn place(&self) -> Place {
        self.nodes.place()
    }

    /// Usage by the name of the node, or why there is none.
    pub(crate) fn measured(&mut self, usage: Result<&HashMap<&str, Resources>, String>) {
        let none = HashMap::new();
        let (usage, reason) = match usage {
            Ok(usage) => (usage, None),
            Err(reason) => (&none, Some(reason)),
        };
        self.nodes.measured(usage, &mut self.tally);
        self.tally.set_unreadable(Source::Metrics, reason);
    }

    /// When a pod is to be judged again though nothing happens to it.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.pods.next_due()
    }

    pub(crate) fn judge_due(&mut self, now: Timestamp) {
        if self.next_due().is_some_and(|due| due <= now) {
            self.pods.judge_due(&mut self.tally, now);
            self.has_changed();
        }
    }

    /// All nodes by name.
    pub(crate) fn nodes(&self) -> Vec<k8s_monitor_contract::Node> {
        self.nodes.shown(&self.tally)
    }

    /// The score with every point accounted for, and what could not be looked at.
    pub(crate) fn health(&self) -> Health {
        let mut health = self.tally.health();
        let lists = [(Assessed::Nodes, "nodes", &self.node_list), (Assessed::Pods, "pods", &self.pod_list)];
        health.not_assessed.extend(lists.into_iter().filter(|(_, _, list)| list.skipped > 0).map(
            |(what, kind, list)| {
                let reason = format!("{} {kind} could not be read and are not counted.", list.skipped);
                NotAssessed { what, reason }
            },
        ));
        health
    }

    /// Names of nodes that are gone are not kept for ever.
    fn forget_names(&mut self) {
        if self.names.is_crowded() {
            let used: HashSet<_> = self.nodes.numbers().chain(self.pods.nodes()).collect();
            self.names.forget_others(&used);
        }
    }
}

/// Takes note of a list that is followed, or is not. Returns whether that changes what is said of it, and why it cannot be
/// read, if it cannot.
fn follows(list: &mut Listed, why_not: Option<&Refusal>, too_many: impl Fn() -> String) -> (bool, Option<String>) {
    let Some(refusal) = why_not else {
        list.failing_since = None;
        return (true, list.is_overfull.then(too_many));
    };
    let reason = list.fails(refusal);
    list.is_settled |= reason.is_some();
    (reason.is_some(), reason)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A pod that restarted just now, on a node of its own.
    fn restarted(number: u32) -> String {
        let now = Timestamp::now();
        format!(
            r#"{{"metadata": {{"name": "pod-{number}", "namespace": "shop",
                "uid": "7e9d3a1b-5c1f-4e0a-9b63-{number:012}"}},
                "spec": {{"nodeName": "node-{number}", "containers": [{{"resources": {{"requests": {{"cpu": "1"}}}}}}]}},
                "status": {{"phase": "Running", "containerStatuses": [{{"restartCount": 1, "state": {{"running": {{}}}},
                "lastState": {{"terminated": {{"exitCode": 1, "finishedAt": "{now}"}}}}}}]}}}}"#
        )
    }

    #[test]
    fn of_what_comes_and_goes_nothing_is_left() {
        let mut state = State::default();
        for number in 0..20_000 {
            let text = restarted(number);
            state.put_pod(&serde_json::from_str(&text).unwrap(), Timestamp::now());
            if number >= 20 {
                let text = restarted(number - 20);
                state.delete_pod(&serde_json::from_str(&text).unwrap());
            }
        }
        assert_eq!(state.pods.sizes(), (20, 20, 20));
        assert!(state.names.len() <= 1024, "{} names", state.names.len());
        assert_eq!(state.tally.usage().and_then(|usage| usage.cpu.requested), Some(20_000));

        // A list that does not name them, as after a watch that was interrupted.
        state.pod_list_begins();
        state.pod_list_ends(false);
        assert_eq!(state.pods.sizes(), (0, 0, 0));
        assert_eq!(state.tally.usage().and_then(|usage| usage.cpu.requested), Some(0));
        assert_eq!(state.next_due(), None);
    }

    #[test]
    fn a_restart_is_forgotten_after_a_while_though_nothing_is_heard_of_the_pod() {
        let mut state = State::default();
        for number in 0..11 {
            let text = restarted(number);
            state.put_pod(&serde_json::from_str(&text).unwrap(), Timestamp::now());
        }
        let points = |state: &State| f64::from(state.tally.score().score).to_string();
        assert_eq!(points(&state), "95");

        let later = state.next_due().unwrap();
        state.judge_due(later + jiff::SignedDuration::from_secs(1));
        assert_eq!(points(&state), "100");
    }
}
