//! What a watched cluster costs.

use jiff::{Zoned, civil::Date, tz::TimeZone};
use k8s_monitor_contract::{Cost, Node};
use k8s_monitor_cost::{ControlPlane, Seen, control_plane, monthly, node_price};
use prices::Table;
use vocabulary::ClusterId;

use crate::{
    assets::{self, Assets},
    nodes::Place,
    state::State,
};

/// What of a cluster costs something.
pub(crate) struct Inventory {
    cluster: ClusterId,
    place: Place,
    version: Option<String>,
    nodes: Vec<Node>,
    assets: Assets,
    today: Date,
}

impl Inventory {
    /// Taken of what is known of a cluster.
    pub(crate) fn of(cluster: ClusterId, state: &State) -> Self {
        let today = Zoned::now().with_time_zone(TimeZone::UTC).date();
        let version = state.version().map(str::to_owned);
        Self { cluster, place: state.place(), version, nodes: state.nodes(), assets: state.assets().clone(), today }
    }

    fn cost_of<R>(&self, of: impl FnOnce(&Seen<'_>) -> R) -> R {
        // Elsewhere there is nothing to count.
        let are_counted = assets::are_counted(&self.place.provider);
        let load_balancers = if are_counted { self.assets.load_balancers.known() } else { Ok(&[][..]) };
        let volumes = if are_counted { self.assets.volumes.known() } else { Ok(&[][..]) };
        let volumes = volumes.map(|volumes| {
            volumes.iter().map(|(kind, count, size)| (kind.as_str(), *count, *size)).collect::<Vec<_>>()
        });
        // Where the API server does not tell, a kubelet is of the same cloud and about as old.
        let kubelets = || self.nodes.first().map(|node| node.version.as_str());
        of(&Seen {
            cluster: self.cluster,
            provider: &self.place.provider,
            region: &self.place.region,
            nodes: &self.nodes,
            control_plane: self.version.as_deref().or_else(kubelets).map_or(ControlPlane::OnNodes, control_plane),
            load_balancers,
            volumes: volumes.as_deref().map_err(|reason| *reason),
            today: self.today,
        })
    }

    /// What it costs in a month.
    pub(crate) fn cost(&self, table: &Table) -> Cost {
        self.cost_of(|seen| monthly(seen, table))
    }

    /// The nodes, each with its price.
    pub(crate) fn priced_nodes(&self, table: &Table) -> Vec<Node> {
        self.cost_of(|seen| {
            let priced = |node: &Node| Node { price: node_price(seen, node, table), ..node.clone() };
            self.nodes.iter().map(priced).collect()
        })
    }
}
