//! What Prometheus is told to look at: the platform's database.
//!
//! Where KubeOpera installs Prometheus, its chart makes the monitor from values, because the monitor's CRD comes with
//! that same chart. Where Prometheus was there before, the monitor is an object of its own.

use serde_json::{Value, json};

use super::{Component, Installation, Namespace, database::DATABASE};
use crate::{cluster::Cluster, layer::Layer, object::Object, values::with};

const NAME: &str = "monitors";
const PURPOSE: &str = "monitoring of the platform itself";

pub(super) fn component(cluster: &Cluster) -> Component {
    if !cluster.present.prometheus_operator {
        return Component::not_needed(NAME, PURPOSE);
    }
    let monitor = Object::namespaced("monitoring.coreos.com/v1", "PodMonitor", Namespace::KUBEOPERA.name, DATABASE);
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Monitoring,
            namespace: Namespace::KUBEOPERA,
            release: None,
            objects: vec![monitor.with("spec", of_database())],
        },
    )
}

fn of_database() -> Value {
    json!({
        "podMetricsEndpoints": [{ "port": "metrics" }],
        "selector": { "matchLabels": { "cnpg.io/cluster": DATABASE } },
    })
}

/// The same monitor as an entry of the chart's `additionalPodMonitors`.
pub(super) fn of_database_as_values() -> Value {
    let mut monitor = of_database();
    with(&mut monitor, json!({ "name": DATABASE, "namespaceSelector": { "matchNames": [Namespace::KUBEOPERA.name] } }));
    monitor
}
