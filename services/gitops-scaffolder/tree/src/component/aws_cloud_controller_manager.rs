//! The link between a kubeadm cluster and AWS: node addresses, provider IDs, load balancers.
//!
//! The instances' first boot installs the same release under the same name, because no pod runs before it; Flux then
//! takes that release over.

use gitops_scaffolder_contract::Origin;
use serde_json::json;

use super::{Chart, ChartSource, Component, Installation, Namespace, Release};
use crate::{cluster::Cluster, layer::Layer};

const NAME: &str = "aws-cloud-controller-manager";
const PURPOSE: &str = "cloud integration";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.origin != Origin::Kubeadm {
        return Component::not_needed(NAME, PURPOSE);
    }
    let mut values = json!({
        "args": ["--v=2", "--cloud-provider=aws", "--configure-cloud-routes=false"],
        "hostNetworking": true,
        "resources": cluster.resources(10, 48, 256),
    });
    // Upstream pairs each release with one minor version of Kubernetes.
    if let (Some(minor), Some(values)) = (&cluster.kubernetes_minor, values.as_object_mut()) {
        values.insert("image".to_owned(), json!({ "tag": format!("v{minor}.0") }));
    }
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Controllers,
            namespace: Namespace::KUBE_SYSTEM,
            release: Some(Release {
                chart: Chart {
                    source: ChartSource::Repository {
                        url: "https://kubernetes.github.io/cloud-provider-aws",
                        chart: NAME,
                    },
                    version: "0.0.11",
                },
                values,
                images: &["registry.k8s.io/provider-aws/cloud-controller-manager"],
            }),
            objects: Vec::new(),
        },
    )
}
