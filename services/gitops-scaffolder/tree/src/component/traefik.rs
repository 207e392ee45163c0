//! Ingress: Traefik, the one maintained controller that serves Ingress and Gateway API from Kubernetes 1.25 on.

use serde_json::json;
use vocabulary::Provider;

use super::{Chart, ChartSource, Component, Installation, Namespace, Release};
use crate::{cluster::Cluster, layer::Layer};

const NAME: &str = "traefik";
const PURPOSE: &str = "ingress";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.present.ingress_class {
        return Component::left_alone(NAME, PURPOSE);
    }
    // A load balancer that never comes would keep the release waiting, so where no cloud gives one, node ports serve.
    let no_cloud = cluster.provider.as_str() == Provider::UNKNOWN;
    let service = if no_cloud { "NodePort" } else { "LoadBalancer" };
    let values = json!({
        "deployment": { "replicas": cluster.replicas(), "imagePullSecrets": cluster.pull_secrets() },
        "ingressClass": { "enabled": true, "isDefaultClass": true, "name": cluster.ingress_class_name() },
        "providers": { "kubernetesIngress": { "publishedService": { "enabled": !no_cloud } } },
        "resources": cluster.resources(50, 64, 256),
        "service": { "spec": { "type": service } },
    });
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Controllers,
            namespace: Namespace { name: NAME, privileged: false },
            release: Some(Release {
                chart: Chart { source: ChartSource::Oci("oci://ghcr.io/traefik/helm/traefik"), version: "41.3.0" },
                values,
                images: &["docker.io/traefik"],
            }),
            objects: Vec::new(),
        },
    )
}
