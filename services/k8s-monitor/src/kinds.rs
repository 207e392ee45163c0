//! What is watched of a cluster.

use jiff::Timestamp;

use crate::{
    call::Refusal,
    cluster::Cluster,
    events::{self, Event},
    leases::{self, Lease, Seen},
    nodes::{self, Node},
    pods::{self, Pod},
    state::State,
    watch::Kind,
};

/// All nodes.
pub(crate) struct WatchedNodes<'c>(pub(crate) &'c Cluster);

impl Kind for WatchedNodes<'_> {
    type Object<'a> = Node<'a>;
    const PATH: &'static str = "/api/v1/nodes";
    const ATTEMPT: &'static str = "watch the nodes";
    const MOST: usize = nodes::MOST;

    fn revision<'b>(node: &'b Node<'_>) -> &'b str {
        node.metadata.resource_version()
    }
    fn list_begins(&self) {
        self.0.change(State::node_list_begins);
    }
    fn put(&self, node: Node<'_>) {
        self.0.hear(|state, _| state.put_node(&node));
    }
    fn delete(&self, node: Node<'_>) {
        self.0.hear(|state, _| state.delete_node(&node));
    }
    fn list_ends(&self, is_cut_short: bool) {
        self.0.change(|state| state.node_list_ends(is_cut_short));
        // What was measured before was of nodes that nobody knew.
        self.0.measurement_wanted.notify_one();
    }
    fn skipped(&self) {
        self.0.change(State::node_skipped);
    }
    fn follows(&self, why_not: Option<&Refusal>) {
        self.0.change(|state| state.nodes_follow(why_not));
    }
}

/// All pods that have not succeeded: those tell nothing, and are most of some clusters.
pub(crate) struct WatchedPods<'c>(pub(crate) &'c Cluster);

impl Kind for WatchedPods<'_> {
    type Object<'a> = Pod<'a>;
    const PATH: &'static str = "/api/v1/pods";
    const FIELDS: &'static str = "status.phase!=Succeeded";
    const ATTEMPT: &'static str = "watch the pods";
    const MOST: usize = pods::MOST;

    fn revision<'b>(pod: &'b Pod<'_>) -> &'b str {
        pod.metadata.resource_version()
    }
    fn list_begins(&self) {
        self.0.change(State::pod_list_begins);
    }
    fn put(&self, pod: Pod<'_>) {
        self.0.hear(|state, now| state.put_pod(&pod, now));
    }
    fn delete(&self, pod: Pod<'_>) {
        self.0.hear(|state, _| state.delete_pod(&pod));
    }
    fn list_ends(&self, is_cut_short: bool) {
        self.0.change(|state| state.pod_list_ends(is_cut_short));
    }
    fn skipped(&self) {
        self.0.change(State::pod_skipped);
    }
    fn follows(&self, why_not: Option<&Refusal>) {
        self.0.change(|state| state.pods_follow(why_not));
    }
}

/// The events of the last hour or so, which is how long Kubernetes keeps them.
pub(crate) struct WatchedEvents<'c>(pub(crate) &'c Cluster);

impl Kind for WatchedEvents<'_> {
    type Object<'a> = Event<'a>;
    const PATH: &'static str = "/api/v1/events";
    const ATTEMPT: &'static str = "watch the events";
    const MOST: usize = events::MOST_LISTED;
    // A stream could not be cut short.
    const STREAMS: bool = false;

    fn revision<'b>(event: &'b Event<'_>) -> &'b str {
        event.metadata.resource_version()
    }
    fn list_begins(&self) {
        self.0.change(|state| state.events.list_begins());
    }
    fn put(&self, event: Event<'_>) {
        self.0.hear(|state, now: Timestamp| state.put_event(&event, now));
    }
    fn delete(&self, event: Event<'_>) {
        self.0.hear(|state, _| state.events.delete(&event));
    }
    fn list_ends(&self, is_cut_short: bool) {
        self.0.change(|state| state.events.list_ends(is_cut_short));
    }
    fn skipped(&self) {
        self.0.change(|state| state.events.skipped());
    }
    fn follows(&self, why_not: Option<&Refusal>) {
        let reason = why_not.filter(|refusal| refusal.code == Some(403)).map(|refusal| refusal.trouble.message.clone());
        self.0.change(|state| state.events.set_not_readable(reason));
    }
}

/// The Leases of kube-system, among them those of the control plane's components.
pub(crate) struct WatchedLeases<'c>(pub(crate) &'c Cluster);

impl Kind for WatchedLeases<'_> {
    type Object<'a> = Lease<'a>;
    const PATH: &'static str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    const ATTEMPT: &'static str = "watch the Leases of the control plane";
    const MOST: usize = leases::MOST;

    fn revision<'b>(lease: &'b Lease<'_>) -> &'b str {
        lease.metadata.resource_version()
    }
    fn list_begins(&self) {}
    fn put(&self, lease: Lease<'_>) {
        // It comes every other second and seldom says anything new: nobody is told of it.
        if let Seen::Renewed(component) = self.0.overhear(|leases, now| leases.put(&lease, now)) {
            self.0.acts(component);
        }
    }
    fn delete(&self, _: Lease<'_>) {
        self.0.look_now();
    }
    fn list_ends(&self, _: bool) {}
    fn skipped(&self) {}
    /// A Lease that may not be watched is looked at from time to time, which is when its trouble is told.
    fn follows(&self, why_not: Option<&Refusal>) {
        self.0.overhear(|leases, _| leases.follow(why_not.is_none()));
    }
}
