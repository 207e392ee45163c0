//! Certificates: cert-manager. Its issuers are in `issuers.rs`, because they need the CRDs this chart brings.

use serde_json::json;

use super::{Chart, ChartSource, Component, Installation, Namespace, Release};
use crate::{cluster::Cluster, layer::Layer, values::with};

/// The `ClusterIssuer` that Ingresses name.
pub const INGRESS_ISSUER: &str = "kubeopera";

pub(super) const NAMESPACE: Namespace = Namespace { name: "cert-manager", privileged: false };
const NAME: &str = "cert-manager";
const PURPOSE: &str = "certificates";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.present.cert_manager {
        return Component::left_alone(NAME, PURPOSE);
    }
    let mut values = json!({
        "crds": { "enabled": true, "keep": true },
        "global": { "imagePullSecrets": cluster.pull_secrets(), "leaderElection": { "namespace": NAMESPACE.name } },
        "replicaCount": cluster.replicas(),
        "resources": cluster.resources(10, 48, 256),
        "cainjector": {
            "replicaCount": cluster.replicas(),
            "resources": cluster.resources(10, 48, 256),
        },
        "webhook": {
            "replicaCount": cluster.replicas(),
            "resources": cluster.resources(10, 32, 128),
        },
    });
    // The solver's image is an argument of the controller, where no rewriting of pods reaches it.
    if let Some(mirror) = &cluster.mirror {
        let solver = mirror.image("quay.io/jetstack/cert-manager-acmesolver");
        with(&mut values, json!({ "acmesolver": { "image": { "repository": solver } } }));
    }
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Controllers,
            namespace: NAMESPACE,
            release: Some(Release {
                chart: Chart {
                    source: ChartSource::Oci("oci://quay.io/jetstack/charts/cert-manager"),
                    version: "v1.18.2",
                },
                values,
                images: &[
                    "quay.io/jetstack/cert-manager-acmesolver",
                    "quay.io/jetstack/cert-manager-cainjector",
                    "quay.io/jetstack/cert-manager-controller",
                    "quay.io/jetstack/cert-manager-startupapicheck",
                    "quay.io/jetstack/cert-manager-webhook",
                ],
            }),
            objects: Vec::new(),
        },
    )
}
