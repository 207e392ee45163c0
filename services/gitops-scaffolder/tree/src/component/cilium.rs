//! Pod network of a kubeadm cluster: Cilium.
//!
//! The instances' first boot installs the same release under the same name, because no pod runs before it; Flux then
//! takes that release over.

use gitops_scaffolder_contract::Origin;
use serde_json::json;

use super::{Chart, ChartSource, Component, Installation, Namespace, Release};
use crate::{cluster::Cluster, layer::Layer};

const NAME: &str = "cilium";
const PURPOSE: &str = "pod network";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.origin != Origin::Kubeadm {
        return Component::not_needed(NAME, PURPOSE);
    }
    let values = json!({
        "imagePullSecrets": cluster.pull_secrets(),
        "ipam": { "mode": "kubernetes" },
        "operator": { "replicas": cluster.replicas() },
        "resources": cluster.resources(100, 256, 1024),
    });
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Controllers,
            namespace: Namespace::KUBE_SYSTEM,
            release: Some(Release {
                chart: Chart { source: ChartSource::Oci("oci://quay.io/cilium/charts/cilium"), version: "1.20.1" },
                values,
                images: &["quay.io/cilium/cilium", "quay.io/cilium/cilium-envoy", "quay.io/cilium/operator-generic"],
            }),
            objects: Vec::new(),
        },
    )
}
