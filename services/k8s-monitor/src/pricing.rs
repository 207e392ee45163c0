//! What a watched cluster costs.

use jiff::{Zoned, civil::Date, tz::TimeZone};
use k8s_monitor_contract::{Cost, Node};
use k8s_monitor_cost::{ControlPlane, Seen, control_plane, monthly, node_price};
use prices::Table;
use vocabulary::ClusterId;

use crate::{nodes::Place, state::State};

/// What of a cluster costs something.
pub(crate) struct Inventory {
    cluster: ClusterId,
    place: Place,
    version: Option<String>,
    nodes: Vec<Node>,
    today: Date,
}

impl Inventory {
    /// Taken of what is known of a cluster.
    pub(crate) fn of(cluster: ClusterId, state: &State) -> Self {
        let today = Zoned::now().with_time_zone(TimeZone::UTC).date();
        let version = state.version().map(str::to_owned);
        Self { cluster, place: state.place(), version, nodes: state.nodes(), today }
    }

    fn seen(&self) -> Seen<'_> {
        // Where the API server does not tell, a kubelet is of the same cloud and about as old.
        let kubelets = || self.nodes.first().map(|node| node.version.as_str());
        Seen {
            cluster: self.cluster,
            provider: &self.place.provider,
            region: &self.place.region,
            nodes: &self.nodes,
            control_plane: self.version.as_deref().or_else(kubelets).map_or(ControlPlane::OnNodes, control_plane),
            load_balancers: &[],
            volumes: &[],
            today: self.today,
        }
    }

    /// What it costs in a month.
    pub(crate) fn cost(&self, table: &Table) -> Cost {
        monthly(&self.seen(), table)
    }

    /// The nodes, each with its price.
    pub(crate) fn priced_nodes(&self, table: &Table) -> Vec<Node> {
        let seen = self.seen();
        let priced = |node: &Node| Node { price: node_price(&seen, node, table), ..node.clone() };
        self.nodes.iter().map(priced).collect()
    }
}
