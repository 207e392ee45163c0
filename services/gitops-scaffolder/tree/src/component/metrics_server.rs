//! Current usage of nodes and pods (`metrics.k8s.io`): metrics-server. GKE brings it.

use gitops_scaffolder_contract::Origin;
use serde_json::json;

use super::{Chart, ChartSource, Component, Installation, Namespace, Release};
use crate::{cluster::Cluster, layer::Layer};

const NAME: &str = "metrics-server";
const PURPOSE: &str = "current usage of nodes and pods";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.origin == Origin::Gke {
        return Component::not_needed(NAME, PURPOSE);
    }
    if cluster.present.metrics_api {
        return Component::left_alone(NAME, PURPOSE);
    }
    // Kubelets made by kubeadm sign their own serving certificates; a managed control plane's are signed.
    let args = match cluster.origin {
        Origin::Existing | Origin::Kubeadm => json!(["--kubelet-insecure-tls"]),
        Origin::Eks | Origin::Gke => json!([]),
    };
    let values = json!({
        "args": args,
        "imagePullSecrets": cluster.pull_secrets(),
        "replicas": cluster.replicas(),
        "resources": cluster.resources(20, 48, 256),
    });
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Controllers,
            namespace: Namespace::KUBE_SYSTEM,
            release: Some(Release {
                chart: Chart {
                    source: ChartSource::Repository {
                        url: "https://kubernetes-sigs.github.io/metrics-server/",
                        chart: NAME,
                    },
                    version: "3.13.0",
                },
                values,
                images: &["registry.k8s.io/metrics-server/metrics-server"],
            }),
            objects: Vec::new(),
        },
    )
}
